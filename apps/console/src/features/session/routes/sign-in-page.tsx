import type { ReactNode } from 'react';
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { zodResolver } from '@hookform/resolvers/zod';
import { signIn } from '@quotaplane/contracts';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useForm } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { Logo } from '../../../components/logo';
import { ProblemNotice } from '../../../components/notices';
import { sessionKeys } from '../api/session.queries';
import classes from './sign-in-page.module.css';

const route = getRouteApi('/sign-in');

export function SignInPage(): ReactNode {
  useDocumentTitle('Sign in · Quotaplane');
  const { next } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const form = useForm({ resolver: zodResolver(signIn), defaultValues: { email: '', password: '' } });
  const submit = useMutation({
    mutationFn: (body: { email: string; password: string }) => call('signIn', { body }),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionKeys.all, session);
      router.history.push(next ?? '/');
    },
    onError: (error) => showFieldErrors(error, form.setError, ['email', 'password']),
  });
  const { errors } = form.formState;
  return (
    <main className={classes.frame}>
      <form className={classes.card} onSubmit={form.handleSubmit((values) => submit.mutate(values))} noValidate>
        <div className={classes.brand}>
          <Logo size={36} />
          <span>Quotaplane</span>
        </div>
        <h1 className={classes.title}>Sign in to the console</h1>
        {submit.error ? (
          <ProblemNotice
            error={submit.error}
            step={submit.error instanceof ApiProblem && submit.error.status === 401 ? 'Check both and try again.' : undefined}
          />
        ) : null}
        <TextInput
          label="Email"
          type="email"
          autoComplete="username"
          autoFocus
          size="md"
          error={errors.email ? 'Enter your email address' : undefined}
          {...form.register('email')}
        />
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          size="md"
          error={errors.password ? 'Enter your password' : undefined}
          visibilityToggleButtonProps={{ 'aria-label': 'Show password' }}
          {...form.register('password')}
        />
        <Button type="submit" size="md" loading={submit.isPending} fullWidth>
          Sign in
        </Button>
        <p className={classes.hint}>
          The first operator’s password is printed once by <code>npm start</code> and kept in <code>.data/secrets/admin-password</code>. Admins add others
          under Settings.
        </p>
      </form>
    </main>
  );
}

import type { ReactNode } from 'react';
import { Button, PasswordInput, TextInput } from '@mantine/core';
import { useDocumentTitle } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useRouter } from '@tanstack/react-router';
import { useForm, type Resolver } from 'react-hook-form';
import { ApiProblem } from '../../../api/api-problem';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { Logo } from '../../../components/logo';
import { ProblemNotice } from '../../../components/notices';
import { sessionKeys } from '../api/session.queries';
import classes from './sign-in-page.module.css';

const route = getRouteApi('/sign-in');

interface Credentials {
  readonly email: string;
  readonly password: string;
}

const loadCheck = () => import('../components/sign-in-check');
/** The schema comes while the operator types. */
const check: Resolver<Credentials> = async (...form) => (await loadCheck()).checkSignIn(...form);

export function SignInPage(): ReactNode {
  useDocumentTitle('Sign in · Quotaplane');
  const { next } = route.useSearch();
  const router = useRouter();
  const queryClient = useQueryClient();
  const form = useForm<Credentials>({ resolver: check, defaultValues: { email: '', password: '' } });
  const submit = useMutation({
    mutationFn: (body: Credentials) => call('signIn', { body }),
    onSuccess: (session) => {
      queryClient.setQueryData(sessionKeys.all, session);
      router.history.push(next ?? '/');
    },
    onError: (error) => showFieldErrors(error, form.setError, ['email', 'password']),
  });
  const { errors } = form.formState;
  return (
    <main className={classes.frame}>
      <form className={classes.card} onInput={() => void loadCheck()} onSubmit={form.handleSubmit((values) => submit.mutate(values))} noValidate>
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

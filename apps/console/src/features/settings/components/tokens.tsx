import { useState, type ReactNode } from 'react';
import { Button, Modal, MultiSelect, SegmentedControl, Input, TextInput } from '@mantine/core';
import { zodResolver } from '@hookform/resolvers/zod';
import { PLATFORM_ONLY_AREAS, RIGHTS, tokenCreate, type Token } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconPlus, IconRobot } from '@tabler/icons-react';
import { Controller, useForm } from 'react-hook-form';
import type { z } from 'zod';
import { call } from '../../../api/client';
import { showFieldErrors } from '../../../api/form-problem';
import { Badge } from '../../../components/badge';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, ProblemNotice } from '../../../components/notices';
import { Panel } from '../../../components/page';
import { SecretOnce } from '../../../components/secret-once';
import { useCan } from '../../session/api/session.queries';
import { settingsKeys, tokensQuery } from '../api/settings.queries';
import classes from './settings.module.css';

export function Tokens(): ReactNode {
  const tokens = useQuery(tokensQuery);
  const mayWrite = useCan('tokens:write');
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null | undefined>(null);
  const [revoking, setRevoking] = useState<Token>();
  return (
    <Panel title="API tokens" isFlush note="for programs that call the control plane" actions={mayWrite ? <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>Create token</Button> : null}>
      <Loaded query={tokens}>
        {({ items }) => (items.length === 0 ? <Empty title="No tokens" icon={<IconRobot size={30} stroke={1.4} aria-hidden />}>Billing, for instance, reads usage with a token that holds only usage:read.</Empty> : (
          <ul className={classes.list}>{items.map((token) => <TokenItem key={token.id} token={token} onRevoke={mayWrite && token.revokedAt === null ? () => setRevoking(token) : undefined} />)}</ul>
        ))}
      </Loaded>
      <Modal opened={isCreating} onClose={() => setCreating(false)} title="Create a token">
        <TokenForm onCancel={() => setCreating(false)} onCreated={(made) => {
          setCreating(false);
          setSecret(made);
        }} />
      </Modal>
      <SecretOnce title="Token created" secret={secret} onClose={() => setSecret(null)} />
      <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />
    </Panel>
  );
}

function TokenItem({ token, onRevoke }: { readonly token: Token; readonly onRevoke: (() => void) | undefined }): ReactNode {
  return (
    <li className={classes.item}>
      <div className={classes.main}><strong>{token.name}</strong><span className={classes.sub}><code>{token.hint}…</code> · {token.scopes.length > 6 ? `${token.scopes.length} rights` : token.scopes.join(', ')}</span></div>
      <Badge tone={token.binding.kind === 'platform' ? 'warn' : 'calm'} icon={null}>{token.binding.kind === 'platform' ? 'all tenants' : `tenant ${token.binding.tenant}`}</Badge>
      {token.revokedAt === null ? null : <Badge tone="bad">revoked</Badge>}
      <span className={classes.sub}>{token.expiresAt === null ? 'no expiry' : <>until <Time at={token.expiresAt} as="day" /></>}</span>
      {onRevoke ? <Button size="compact-xs" variant="subtle" color="gray" aria-label={`Revoke the token ${token.name}`} onClick={onRevoke}>Revoke</Button> : null}
    </li>
  );
}

interface TokenFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (secret: string | undefined) => void;
}

const BINDINGS = [{ value: 'platform', label: 'All tenants' }, { value: 'tenant', label: 'One tenant' }];

function TokenForm({ onCancel, onCreated }: TokenFormProps): ReactNode {
  const queryClient = useQueryClient();
  const form = useForm<z.input<typeof tokenCreate>, unknown, z.output<typeof tokenCreate>>({ resolver: zodResolver(tokenCreate), defaultValues: { name: '', scopes: [], binding: { kind: 'platform' } } });
  const create = useMutation({
    mutationFn: (body: z.output<typeof tokenCreate>) => call('tokensCreate', { body }),
    onSuccess: ({ secret }) => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.tokens() });
      onCreated(secret);
    },
    onError: (error) => showFieldErrors(error, form.setError, ['name', 'scopes', 'binding']),
  });
  const { errors } = form.formState;
  const binding = form.watch('binding');
  // A token of one tenant can never hold rights over everyone.
  const rights = binding.kind === 'platform' ? RIGHTS : RIGHTS.filter((right) => !PLATFORM_ONLY_AREAS.some((area) => right.startsWith(`${area}:`)));
  const tenantError = form.getFieldState('binding.tenant', form.formState).error?.message;
  return (
    <form className={layout.tight} noValidate onSubmit={form.handleSubmit((values) => create.mutate(values))}>
      {create.error ? <ProblemNotice error={create.error} /> : null}
      <TextInput label="Name" description="Which program uses it" required error={errors.name ? 'Name it in 1 to 100 characters' : undefined} {...form.register('name')} />
      <Controller control={form.control} name="binding" render={({ field }) => (
        <Input.Wrapper label="Sees" labelElement="div"><div><SegmentedControl size="xs" aria-label="Sees" data={BINDINGS} value={field.value.kind} onChange={(kind) => {
          field.onChange(kind === 'tenant' ? { kind: 'tenant', tenant: '' } : { kind: 'platform' });
          form.setValue('scopes', []);
        }} /></div></Input.Wrapper>
      )} />
      {binding.kind === 'tenant' ? <TextInput label="Tenant" required error={tenantError} {...form.register('binding.tenant')} /> : null}
      <Controller control={form.control} name="scopes" render={({ field }) => (
        <MultiSelect label="Rights" description="The fewest that do" required searchable data={[...rights]} error={errors.scopes ? 'Choose at least one right' : undefined} value={field.value} onChange={field.onChange} />
      )} />
      <div className={layout.row}><span className={layout.spring} /><Button variant="default" onClick={onCancel}>Cancel</Button><Button type="submit" loading={create.isPending}>Create token</Button></div>
    </form>
  );
}

function RevokeToken({ token, onClose }: { readonly token: Token | undefined; readonly onClose: () => void }): ReactNode {
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: ({ id, version }: Token) => call('tokensDelete', { params: { id }, ifVersion: version }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: settingsKeys.tokens() });
      onClose();
    },
  });
  return (
    <ConfirmDialog isOpen={token !== undefined} title="Revoke this token?" action="Revoke token" isRunning={revoke.isPending} problem={revoke.error} onClose={onClose} onConfirm={() => token && revoke.mutate(token)}>
      Programs that use <strong>{token?.name}</strong> get 401 from now on. This cannot be undone.
    </ConfirmDialog>
  );
}

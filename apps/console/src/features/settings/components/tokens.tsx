import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import type { Token } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconPlus, IconRobot } from '@tabler/icons-react';
import { call } from '../../../api/client';
import { Badge } from '../../../components/badge';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { Time } from '../../../components/figures';
import { FormModal } from '../../../components/form-modal';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { Panel } from '../../../components/page';
import { SecretOnce } from '../../../components/secret-once';
import { useCan } from '../../session/api/session.queries';
import { settingsKeys, tokensQuery } from '../api/settings.queries';
import classes from './settings.module.css';
import { TokenForm } from './token-form';

export function Tokens(): ReactNode {
  const tokens = useQuery(tokensQuery);
  const mayWrite = useCan('tokens:write');
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null | undefined>(null);
  const [revoking, setRevoking] = useState<Token>();
  return (
    <Panel
      title="API tokens"
      isFlush
      note="for programs that call the control plane"
      actions={
        mayWrite ? (
          <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
            Create token
          </Button>
        ) : null
      }
    >
      <Loaded query={tokens}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No tokens" icon={<IconRobot size={30} stroke={1.4} aria-hidden />}>
              Billing, for instance, reads usage with a token that holds only usage:read.
            </Empty>
          ) : (
            <ul className={classes.list}>
              {items.map((token) => (
                <TokenItem key={token.id} token={token} onRevoke={mayWrite && token.revokedAt === null ? () => setRevoking(token) : undefined} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <FormModal isOpen={isCreating} onClose={() => setCreating(false)} title="Create a token">
        {({ leave }) => (
          <TokenForm
            onCancel={leave}
            onCreated={(made) => {
              setCreating(false);
              setSecret(made);
            }}
          />
        )}
      </FormModal>
      <SecretOnce title="Token created" secret={secret} onClose={() => setSecret(null)} />
      <RevokeToken token={revoking} onClose={() => setRevoking(undefined)} />
    </Panel>
  );
}

function TokenItem({ token, onRevoke }: { readonly token: Token; readonly onRevoke: (() => void) | undefined }): ReactNode {
  return (
    <li className={classes.item}>
      <div className={classes.main}>
        <strong>{token.name}</strong>
        <span className={classes.sub}>
          <code>{token.hint}…</code> · {token.scopes.length > 6 ? `${token.scopes.length} rights` : token.scopes.join(', ')}
        </span>
      </div>
      <Badge tone={token.binding.kind === 'platform' ? 'warn' : 'calm'} icon={null}>
        {token.binding.kind === 'platform' ? 'all tenants' : `tenant ${token.binding.tenant}`}
      </Badge>
      {token.revokedAt === null ? null : <Badge tone="bad">revoked</Badge>}
      <span className={classes.sub}>
        {token.expiresAt === null ? (
          'no expiry'
        ) : (
          <>
            until <Time at={token.expiresAt} as="day" />
          </>
        )}
      </span>
      {onRevoke ? (
        <Button size="compact-xs" variant="subtle" color="gray" aria-label={`Revoke the token ${token.name}`} onClick={onRevoke}>
          Revoke
        </Button>
      ) : null}
    </li>
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
    <ConfirmDialog
      isOpen={token !== undefined}
      title="Revoke this token?"
      action="Revoke token"
      isRunning={revoke.isPending}
      problem={revoke.error}
      onClose={onClose}
      onConfirm={() => token && revoke.mutate(token)}
    >
      Programs that use <strong>{token?.name}</strong> get 401 from now on. This cannot be undone.
    </ConfirmDialog>
  );
}

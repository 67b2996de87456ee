import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import type { ApiKey } from '@quotaplane/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { IconKey, IconPlus } from '@tabler/icons-react';
import { call } from '../../../api/client';
import { Badge } from '../../../components/badge';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Panel } from '../../../components/page';
import { SecretOnce } from '../../../components/secret-once';
import { announceChange } from '../../rollout/components/announce-change';
import { useCan } from '../../session/api/session.queries';
import { tenantKeys, tenantKeysQuery } from '../api/tenant.queries';
import classes from './key-list.module.css';

const CreateKey = onDemand(async () => (await import('./create-key')).CreateKey, ({ isOpen }) => isOpen);

export function KeyList({ tenant, zone }: { readonly tenant: string; readonly zone: string }): ReactNode {
  const keys = useQuery(tenantKeysQuery(tenant));
  const mayWrite = useCan('keys:write');
  const [isCreating, setCreating] = useState(false);
  const [secret, setSecret] = useState<string | null | undefined>(null);
  const [revoking, setRevoking] = useState<ApiKey>();
  return (
    <Panel
      title="API keys"
      isFlush
      actions={
        mayWrite ? (
          <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setCreating(true)}>
            Create key
          </Button>
        ) : null
      }
    >
      <Loaded query={keys}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No keys" icon={<IconKey size={30} stroke={1.4} aria-hidden />}>
              Without one this tenant’s calls count as anonymous. Create a key and hand it over safely.
            </Empty>
          ) : (
            <ul className={classes.list}>
              {items.map((key) => (
                <KeyItem key={key.id} apiKey={key} zone={zone} onRevoke={mayWrite && key.revokedAt === null ? () => setRevoking(key) : undefined} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <CreateKey
        tenant={tenant}
        isOpen={isCreating}
        onClose={() => setCreating(false)}
        onCreated={(made) => {
          setCreating(false);
          setSecret(made);
        }}
      />
      <SecretOnce title="Key created" secret={secret} onClose={() => setSecret(null)} />
      <RevokeKey tenant={tenant} apiKey={revoking} onClose={() => setRevoking(undefined)} />
    </Panel>
  );
}

function KeyItem({
  apiKey,
  zone,
  onRevoke,
}: {
  readonly apiKey: ApiKey;
  readonly zone: string;
  readonly onRevoke: (() => void) | undefined;
}): ReactNode {
  return (
    <li className={classes.item}>
      <div className={classes.main}>
        <span className={classes.name}>{apiKey.name}</span>
        <code>{apiKey.hint}…</code>
        {apiKey.userId === null ? null : <Badge>user {apiKey.userId}</Badge>}
        {apiKey.revokedAt === null ? null : <Badge tone="bad">revoked</Badge>}
      </div>
      <span className={classes.meta}>
        by {apiKey.createdBy}, <Time at={apiKey.createdAt} zone={zone} as="day" />
      </span>
      {onRevoke ? (
        <Button size="compact-xs" variant="subtle" color="gray" onClick={onRevoke} aria-label={`Revoke the key ${apiKey.name}`}>
          Revoke
        </Button>
      ) : null}
    </li>
  );
}

function RevokeKey({
  tenant,
  apiKey,
  onClose,
}: {
  readonly tenant: string;
  readonly apiKey: ApiKey | undefined;
  readonly onClose: () => void;
}): ReactNode {
  const queryClient = useQueryClient();
  const revoke = useMutation({
    mutationFn: (key: ApiKey) => call('keysDelete', { params: { slug: tenant, id: key.id }, ifVersion: key.version }),
    onSuccess: (key) => {
      void queryClient.invalidateQueries({ queryKey: tenantKeys.keys(tenant) });
      announceChange(`Key ${key.name} revoked`, key.changeId);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      isOpen={apiKey !== undefined}
      title="Revoke this key?"
      action="Revoke key"
      isRunning={revoke.isPending}
      problem={revoke.error}
      onClose={onClose}
      onConfirm={() => apiKey && revoke.mutate(apiKey)}
    >
      Calls with <strong>{apiKey?.name}</strong> are refused with 401 on every node within a second. This cannot be undone.
    </ConfirmDialog>
  );
}

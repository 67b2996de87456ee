import { useState, type ReactNode } from 'react';
import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { IconChevronDown, IconKey, IconPlayerPause, IconPlayerPlay, IconTrash } from '@tabler/icons-react';
import type { Webhook } from '@quotaplane/contracts';
import { ConfirmDialog } from '../../../components/confirm-dialog';
import { formatCount } from '../../../format/number';
import { useDeleteWebhook, usePatchWebhook, useRotateSecret } from '../api/webhook.queries';
import { WebhookSecret } from './webhook-secret';
import { shortUrl } from './webhook-words';

type Asked = 'rotate' | 'switch' | 'delete';

/** Rotate, disable or enable, delete: each after one review. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const [asked, setAsked] = useState<Asked>();
  const [secret, setSecret] = useState<string | null | undefined>(null);
  const navigate = useNavigate();
  const rotate = useRotateSecret();
  const patch = usePatchWebhook();
  const remove = useDeleteWebhook();
  const isActive = webhook.status === 'active';
  const close = (): void => {
    setAsked(undefined);
    for (const each of [rotate, patch, remove]) each.reset();
  };
  const waiting = webhook.pending === 0 ? 'Nothing waits now.' : `${formatCount(webhook.pending)} deliveries wait now.`;
  return (
    <>
      <Menu position="bottom-end" width={210}>
        <Menu.Target>
          <Button variant="default" rightSection={<IconChevronDown size={14} />}>
            Change
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconKey size={15} />} onClick={() => setAsked('rotate')}>
            Rotate the secret
          </Menu.Item>
          <Menu.Item leftSection={isActive ? <IconPlayerPause size={15} /> : <IconPlayerPlay size={15} />} onClick={() => setAsked('switch')}>
            {isActive ? 'Disable' : 'Enable'}
          </Menu.Item>
          <Menu.Item leftSection={<IconTrash size={15} />} color="red" onClick={() => setAsked('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmDialog
        isOpen={asked === 'rotate'}
        title="Rotate the secret?"
        action="Rotate"
        isDangerous={false}
        isRunning={rotate.isPending}
        problem={rotate.error}
        onClose={close}
        onConfirm={() =>
          rotate.mutate(webhook, {
            onSuccess: ({ secret: made }) => {
              close();
              setSecret(made);
            },
          })
        }
      >
        A new secret signs from now on, and the one that ends with <code>{webhook.secretHint}</code> beside it for 24 hours more, so that the receiver can
        change without losing a delivery.
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === 'switch'}
        title={isActive ? 'Disable this endpoint?' : 'Enable this endpoint?'}
        action={isActive ? 'Disable' : 'Enable'}
        isDangerous={isActive}
        isRunning={patch.isPending}
        problem={patch.error}
        onClose={close}
        onConfirm={() => patch.mutate({ webhook, body: { status: isActive ? 'disabled' : 'active' } }, { onSuccess: close })}
      >
        {isActive ? 'Nothing is sent until it is enabled again; what waits is kept.' : `What waits is sent. ${waiting}`}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={asked === 'delete'}
        title="Delete this endpoint?"
        action="Delete"
        isRunning={remove.isPending}
        problem={remove.error}
        onClose={close}
        onConfirm={() => remove.mutate(webhook, { onSuccess: () => void navigate({ to: '/settings' }) })}
      >
        <strong>{shortUrl(webhook.url)}</strong> is told nothing any more, and its log goes. What waits is dropped. {waiting}
      </ConfirmDialog>
      <WebhookSecret title="Secret rotated" secret={secret} onClose={() => setSecret(null)} />
    </>
  );
}

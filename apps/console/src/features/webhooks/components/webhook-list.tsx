import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { IconPlus, IconWebhook } from '@tabler/icons-react';
import type { Webhook } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import { FormModal } from '../../../components/form-modal';
import { Loaded } from '../../../components/loaded';
import { Empty } from '../../../components/notices';
import { Panel } from '../../../components/page';
import { formatCount } from '../../../format/number';
import { useCan } from '../../session/api/session.queries';
import { webhooksQuery } from '../api/webhook.queries';
import { WebhookForm } from './webhook-form';
import { WebhookSecret } from './webhook-secret';
import { WebhookStatus } from './webhook-state';
import { shortUrl } from './webhook-words';
import classes from './webhooks.module.css';

/** Endpoints that are told of events; each leads to its log. */
export function WebhookList(): ReactNode {
  const webhooks = useQuery(webhooksQuery);
  const mayWrite = useCan('webhooks:write');
  const [isAdding, setAdding] = useState(false);
  const [secret, setSecret] = useState<string | null | undefined>(null);
  return (
    <Panel
      title="Webhooks"
      isFlush
      note="who is told of events"
      actions={
        mayWrite ? (
          <Button size="compact-sm" variant="default" leftSection={<IconPlus size={14} />} onClick={() => setAdding(true)}>
            Add endpoint
          </Button>
        ) : null
      }
    >
      <Loaded query={webhooks}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No endpoints" icon={<IconWebhook size={30} stroke={1.4} aria-hidden />}>
              Billing, for instance, is told when a period closes, and a customer’s contact when 80% of the allowance is used.
            </Empty>
          ) : (
            <ul className={classes.list}>
              {items.map((webhook) => (
                <WebhookItem key={webhook.id} webhook={webhook} />
              ))}
            </ul>
          )
        }
      </Loaded>
      <FormModal isOpen={isAdding} onClose={() => setAdding(false)} title="Add a webhook endpoint" size="lg">
        {({ leave }) => (
          <WebhookForm
            onCancel={leave}
            onCreated={(made) => {
              setAdding(false);
              setSecret(made);
            }}
          />
        )}
      </FormModal>
      <WebhookSecret title="Endpoint added" secret={secret} onClose={() => setSecret(null)} />
    </Panel>
  );
}

function WebhookItem({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { id, url, description, events, tenant, pending, lastDeliveryAt, lastStatus } = webhook;
  return (
    <li className={classes.item}>
      <div className={classes.main}>
        <Link to="/settings/webhooks/$id" params={{ id }} className={classes.url} title={url}>
          {shortUrl(url)}
        </Link>
        <span className={classes.sub}>
          {description === '' ? '' : `${description} · `}
          {events.join(', ')}
        </span>
      </div>
      {tenant === null ? null : <Badge icon={null}>tenant {tenant}</Badge>}
      {pending === 0 ? null : <Badge tone="warn">{formatCount(pending)} waiting</Badge>}
      <WebhookStatus webhook={webhook} />
      <span className={classes.sub}>
        {lastDeliveryAt === null ? (
          'nothing sent yet'
        ) : (
          <>
            {lastStatus === null ? 'sent' : `last: ${lastStatus},`} <Time at={lastDeliveryAt} as="relative" />
          </>
        )}
      </span>
    </li>
  );
}

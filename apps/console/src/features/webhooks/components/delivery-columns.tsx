import { ActionIcon, Button } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { WebhookDelivery } from '@quotaplane/contracts';
import { columnsOf, type Column } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import { DeliveryStateBadge } from './webhook-state';
import classes from './webhooks.module.css';

const column = columnsOf<WebhookDelivery>();

interface DeliveryActions {
  readonly opened: string | undefined;
  readonly onToggle: (delivery: WebhookDelivery) => void;
  /** Undefined for those who may not. */
  readonly onRedeliver: ((delivery: WebhookDelivery) => void) | undefined;
}

export function deliveryColumns({ opened, onToggle, onRedeliver }: DeliveryActions): Column<WebhookDelivery>[] {
  return [
    column.display({
      id: 'event',
      header: 'Event',
      cell: ({ row: { original: delivery } }) => (
        <span className={classes.first}>
          <ActionIcon
            variant="subtle"
            color="gray"
            size="sm"
            aria-label={`Attempts of ${delivery.event.type}, ${delivery.event.id}`}
            aria-expanded={opened === delivery.id}
            onClick={() => onToggle(delivery)}
          >
            {opened === delivery.id ? <IconChevronDown size={15} /> : <IconChevronRight size={15} />}
          </ActionIcon>
          <span className={classes.stacked}>
            <span className={classes.type}>{delivery.event.type}</span>
            <span className={classes.sub} title={delivery.event.id}>
              {delivery.event.id.slice(0, 8)}…
            </span>
          </span>
        </span>
      ),
    }),
    column.display({
      id: 'tenant',
      header: 'Tenant',
      cell: ({
        row: {
          original: { event },
        },
      }) =>
        event.tenant === null ? (
          '–'
        ) : (
          <Link to="/tenants/$slug" params={{ slug: event.tenant }} className={classes.tenant}>
            {event.tenant}
          </Link>
        ),
    }),
    column.display({ id: 'state', header: 'State', cell: ({ row: { original: delivery } }) => <DeliveryStateBadge delivery={delivery} /> }),
    column.display({
      id: 'last',
      header: 'Last answer',
      cell: ({ row: { original: delivery } }) => {
        const last = delivery.log[0];
        return last === undefined ? <span className={classes.sub}>not tried yet</span> : <span className={classes.answer}>{last.status ?? last.error ?? 'no answer'}</span>;
      },
    }),
    column.display({
      id: 'next',
      header: 'Next attempt',
      cell: ({ row: { original: delivery } }) => (delivery.nextAttemptAt === null ? <span className={classes.sub}>–</span> : <Time at={delivery.nextAttemptAt} as="relative" />),
    }),
    column.display({ id: 'created', header: 'Happened', cell: ({ row: { original: delivery } }) => <Time at={delivery.event.at} as="relative" /> }),
    column.display({
      id: 'actions',
      header: () => <span className={classes.hidden}>Actions</span>,
      meta: { isNumeric: true },
      cell: ({ row: { original: delivery } }) =>
        onRedeliver ? (
          <Button size="compact-sm" variant="default" aria-label={`Send ${delivery.event.id} again`} onClick={() => onRedeliver(delivery)}>
            Send again
          </Button>
        ) : null,
    }),
  ];
}

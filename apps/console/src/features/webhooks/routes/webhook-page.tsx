import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button, SegmentedControl, Select } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { IconSend } from '@tabler/icons-react';
import type { Webhook } from '@quotaplane/contracts';
import { DELIVERY_STATES, EVENT_NAMES } from '../../../api/contract.facts';
import { DataTable } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { ButtonLink } from '../../../components/links';
import { Loaded } from '../../../components/loaded';
import { isNotFound, MissingPage } from '../../../components/missing-page';
import { Empty, Notice, ProblemNotice, StaleMark } from '../../../components/notices';
import { Facts, Page } from '../../../components/page';
import { formatCount } from '../../../format/number';
import { useCan } from '../../session/api/session.queries';
import { deliveriesQuery, useRedeliver, webhookQuery } from '../api/webhook.queries';
import { deliveryColumns } from '../components/delivery-columns';
import { DeliveryDetail } from '../components/delivery-detail';
import { WebhookActions } from '../components/webhook-actions';
import { WebhookStatus } from '../components/webhook-state';
import { scheduleWords, shortUrl } from '../components/webhook-words';
import classes from '../components/webhooks.module.css';
import { webhookSearch } from './webhook.search';

const route = getRouteApi('/console/settings/webhooks/$id');
const STATE_WORDS = { all: 'All', pending: 'Waiting', delivered: 'Delivered', failed: 'Failed', 'given-up': 'Given up' } as const;

export function WebhookPage(): ReactNode {
  const { id } = route.useParams();
  const webhook = useQuery(webhookQuery(id));
  if (webhook.data === undefined && isNotFound(webhook.error)) {
    const next = (
      <ButtonLink to="/settings" variant="default">
        Settings
      </ButtonLink>
    );
    return <MissingPage kind="webhook endpoint" name={id} next={next} />;
  }
  return (
    <Loaded query={webhook} heightPx={300}>
      {(read) => <WebhookDetail key={id} webhook={read} />}
    </Loaded>
  );
}

function WebhookDetail({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const mayWrite = useCan('webhooks:write');
  return (
    <Page
      title={shortUrl(webhook.url)}
      beside={<WebhookStatus webhook={webhook} />}
      lead={<WebhookFacts webhook={webhook} />}
      actions={mayWrite ? <WebhookActions webhook={webhook} /> : null}
    >
      {webhook.disabledReason === null || webhook.status === 'active' ? null : <Notice tone="warn">{webhook.disabledReason}</Notice>}
      <Deliveries webhook={webhook} mayWrite={mayWrite} />
    </Page>
  );
}

function WebhookFacts({ webhook }: { readonly webhook: Webhook }): ReactNode {
  const { description, events, tenant, secretHint, formerSecretUntil, ratePerSecond, concurrency, pending } = webhook;
  return (
    <Facts
      items={[
        ...(description === '' ? [] : [['Description', description] as const]),
        ['Events', events.join(', ')],
        ['Tenant', tenant === null ? 'all' : <Link key="tenant" to="/tenants/$slug" params={{ slug: tenant }}>{tenant}</Link>],
        ['Secret', <code key="secret">…{secretHint}</code>],
        ...(formerSecretUntil === null ? [] : [['Former secret signs until', <Time key="former" at={formerSecretUntil} />] as const]),
        ['Pace', `${formatCount(ratePerSecond)} per s, ${formatCount(concurrency)} at once`],
        ['Waiting', formatCount(pending)],
      ]}
    />
  );
}

function Deliveries({ webhook, mayWrite }: { readonly webhook: Webhook; readonly mayWrite: boolean }): ReactNode {
  const filter = webhookSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const deliveries = useInfiniteQuery(deliveriesQuery(webhook.id, filter));
  const rows = useMemo(() => deliveries.data?.pages.flatMap((page) => page.items) ?? [], [deliveries.data]);
  const [opened, setOpened] = useState<string>();
  const redeliver = useRedeliver();
  const { mutate: sendAgain } = redeliver;
  const columns = useMemo(
    () =>
      deliveryColumns({
        opened,
        onToggle: ({ id }) => setOpened((before) => (before === id ? undefined : id)),
        onRedeliver: mayWrite ? (delivery) => sendAgain(delivery) : undefined,
      }),
    [opened, mayWrite, sendAgain],
  );
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = deliveries;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const change = (changed: { state?: string; type?: string | undefined }): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...webhookSearch.parse({ ...filter, ...changed }) }), replace: true });
  const isFiltered = filter.state !== undefined || filter.type !== undefined;
  return (
    <>
      <div className={layout.toolbar}>
        <SegmentedControl
          className={classes.states}
          aria-label="State"
          size="sm"
          value={filter.state ?? 'all'}
          data={(['all', ...DELIVERY_STATES] as const).map((value) => ({ value, label: STATE_WORDS[value] }))}
          onChange={(state) => change({ state })}
        />
        <Select
          aria-label="Event"
          placeholder="every event"
          clearable
          clearButtonProps={{ 'aria-label': 'Every event' }}
          data={[...EVENT_NAMES]}
          value={filter.type ?? null}
          onChange={(type) => change({ type: type ?? undefined })}
        />
        <span className={layout.spring} />
        <StaleMark error={deliveries.error} updatedAtMs={deliveries.dataUpdatedAt} />
      </div>
      {redeliver.error ? <ProblemNotice error={redeliver.error} /> : null}
      <section className={layout.panel} aria-label="Deliveries" aria-busy={deliveries.isFetching && deliveries.isPlaceholderData}>
        <Loaded query={deliveries} heightPx={300}>
          {() =>
            rows.length === 0 ? (
              <Empty
                title={isFiltered ? 'No such delivery' : 'Nothing sent yet'}
                icon={<IconSend size={32} stroke={1.4} aria-hidden />}
                next={
                  isFiltered ? (
                    <Button variant="default" onClick={() => change({ state: undefined, type: undefined })}>
                      Show all
                    </Button>
                  ) : undefined
                }
              >
                Each event is tried {scheduleWords()}; every attempt shows here with its answer.
              </Empty>
            ) : (
              <DataTable
                label="Deliveries"
                columns={columns}
                rows={rows}
                rowKey={({ id }) => id}
                onEnd={loadMore}
                detail={(delivery) => (opened === delivery.id ? <DeliveryDetail delivery={delivery} /> : null)}
              />
            )
          }
        </Loaded>
      </section>
    </>
  );
}

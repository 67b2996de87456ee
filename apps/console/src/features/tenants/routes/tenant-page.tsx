import { useState, type ReactNode } from 'react';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { IconHistory } from '@tabler/icons-react';
import type { Tenant } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Time } from '../../../components/figures';
import layout from '../../../components/layout.module.css';
import { ButtonLink } from '../../../components/links';
import { Loaded } from '../../../components/loaded';
import { isNotFound, MissingPage } from '../../../components/missing-page';
import { Empty, StaleMark } from '../../../components/notices';
import { onDemand } from '../../../components/on-demand';
import { Facts, Page, Panel } from '../../../components/page';
import { auditTailQuery } from '../../audit/api/audit.queries';
import auditClasses from '../../audit/components/audit.module.css';
import { AuditEntryItem } from '../../audit/components/audit-entry-item';
import { OverrideList } from '../../overrides/components/override-list';
import { RaiseLink } from '../../overrides/components/raise-link';
import { useCan } from '../../session/api/session.queries';
import { GrantLink } from '../../top-ups/components/grant-link';
import { TopUpList } from '../../top-ups/components/top-up-list';
import { QuotaCards } from '../../usage/components/quota-card';
import { TrafficChart } from '../../usage/components/traffic-chart';
import { tenantPolicyQuery, tenantQuery } from '../api/tenant.queries';
import { CalendarNotice } from '../components/calendar-notice';
import { EffectiveLimits } from '../components/effective-limits';
import { KeyList } from '../components/key-list';
import { TenantStatusBadge } from '../components/tenant-status-badge';

const route = getRouteApi('/console/tenants/$slug');
const ChangeTier = onDemand(async () => (await import('../components/change-tier')).ChangeTier, ({ isOpen }) => isOpen);
const ChangeCalendar = onDemand(async () => (await import('../components/change-calendar')).ChangeCalendar, ({ isOpen }) => isOpen);

export function TenantPage(): ReactNode {
  const { slug } = route.useParams();
  const tenant = useQuery(tenantQuery(slug));
  if (tenant.data === undefined && isNotFound(tenant.error)) {
    const next = (
      <ButtonLink to="/tenants" variant="default">
        All tenants
      </ButtonLink>
    );
    return <MissingPage kind="tenant" name={slug} next={next} />;
  }
  return (
    <Loaded query={tenant} heightPx={300}>
      {(read) => <TenantDetail key={slug} tenant={read} />}
    </Loaded>
  );
}

function TenantDetail({ tenant }: { readonly tenant: Tenant }): ReactNode {
  const { slug, timezone } = tenant;
  const [changing, setChanging] = useState<'tier' | 'calendar'>();
  const mayReadOverrides = useCan('overrides:read');
  const mayReadTopUps = useCan('topups:read');
  const mayReadUsage = useCan('usage:read');
  const mayReadKeys = useCan('keys:read');
  const mayReadAudit = useCan('audit:read');
  const mayWrite = useCan('tenants:write');
  const policy = useQuery(tenantPolicyQuery(slug));
  return (
    <Page
      title={tenant.name}
      beside={
        <>
          <TenantStatusBadge status={tenant.status} />
          {tenant.reserved ? <Badge>reserved</Badge> : null}
        </>
      }
      lead={
        <Facts
          items={[
            ['Slug', <code key="slug">{slug}</code>],
            [
              'Tier',
              <Link key="tier" to="/tiers/$slug" params={{ slug: tenant.tier }}>
                {tenant.tier}
              </Link>,
            ],
            [
              'Next tier',
              tenant.scheduledTier === null ? (
                'none planned'
              ) : (
                <span key="next">
                  {tenant.scheduledTier.tier} from <Time at={tenant.scheduledTier.effectiveAt} zone={timezone} />
                </span>
              ),
            ],
            ['Time zone', timezone],
            ['Period starts', `day ${tenant.anchorDay}`],
            ['Policy revision', policy.data ? String(policy.data.revision) : '…'],
          ]}
        />
      }
      actions={
        <>
          {mayWrite ? (
            <>
              <Button variant="default" onClick={() => setChanging('calendar')}>
                Change calendar
              </Button>
              <Button variant="default" onClick={() => setChanging('tier')}>
                Change tier
              </Button>
            </>
          ) : null}
          {tenant.reserved ? null : <RaiseLink tenant={slug} />}
        </>
      }
    >
      <CalendarNotice tenant={tenant} />
      <div className={layout.columns}>
        <div className={layout.stack}>
          <Panel
            title="Effective limits"
            isFlush
            note="in force now, each with its source"
            actions={<StaleMark error={policy.error} updatedAtMs={policy.dataUpdatedAt} />}
          >
            <Loaded query={policy} heightPx={200}>
              {(read) => <EffectiveLimits policy={read} />}
            </Loaded>
          </Panel>
          <Panel title="Traffic, last hour" note={`times in ${timezone}`}>
            <TrafficChart tenant={slug} zone={timezone} />
          </Panel>
          {mayReadAudit ? <AuditTail tenant={slug} zone={timezone} /> : null}
        </div>
        <div className={layout.stack}>
          {mayReadUsage ? (
            <Panel title="Quota, this period" isFlush actions={<QuotaLinks tenant={slug} />}>
              <QuotaCards tenant={slug} />
            </Panel>
          ) : null}
          {mayReadTopUps ? (
            <Panel title="Top-ups" isFlush actions={tenant.reserved ? null : <GrantLink tenant={slug} />}>
              <TopUpList tenant={slug} zone={timezone} />
            </Panel>
          ) : null}
          {mayReadOverrides ? (
            <Panel title="Overrides" isFlush>
              <OverrideList tenant={slug} zone={timezone} />
            </Panel>
          ) : null}
          {mayReadKeys ? <KeyList tenant={slug} zone={timezone} /> : null}
        </div>
      </div>
      <ChangeTier tenant={tenant} isOpen={changing === 'tier'} onClose={() => setChanging(undefined)} />
      <ChangeCalendar tenant={tenant} isOpen={changing === 'calendar'} onClose={() => setChanging(undefined)} />
    </Page>
  );
}

function QuotaLinks({ tenant }: { readonly tenant: string }): ReactNode {
  return (
    <>
      <Link to="/usage" search={{ tenant }}>
        Chart
      </Link>
      <Link to="/statements" search={{ tenant }}>
        Statements
      </Link>
    </>
  );
}

function AuditTail({ tenant, zone }: { readonly tenant: string; readonly zone: string }): ReactNode {
  const tail = useQuery(auditTailQuery(tenant));
  return (
    <Panel
      title="Latest changes"
      isFlush
      actions={
        <Link to="/audit" search={{ tenant }}>
          All changes
        </Link>
      }
    >
      <Loaded query={tail}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No change yet" icon={<IconHistory size={30} stroke={1.4} aria-hidden />}>
              Whatever is changed for this tenant is written here, with its reason.
            </Empty>
          ) : (
            <ul className={auditClasses.list}>
              {items.map((entry) => (
                <AuditEntryItem key={entry.id} entry={entry} zone={zone} isAtHome />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  );
}

import { Link } from '@tanstack/react-router';
import type { Offender } from '@quotaplane/contracts';
import { RESERVED_TENANT_SLUGS } from '../../../api/contract.facts';
import { Badge } from '../../../components/badge';
import { columnsOf } from '../../../components/data-table';
import { Time } from '../../../components/figures';
import { formatCount, formatPercent } from '../../../format/number';
import { PenaliseLink } from '../../lists/components/penalise-link';
import { RaiseLink } from '../../overrides/components/raise-link';
import classes from './offenders.module.css';

const column = columnsOf<Offender>();
const isReserved = (tenant: string): boolean => RESERVED_TENANT_SLUGS.some((reserved) => reserved === tenant);

export const offenderKey = ({ tenant, subject }: Offender): string => `${tenant} ${subject.scope} ${subject.id}`;

export const offenderColumns = [
  column.display({
    id: 'tenant',
    header: 'Tenant',
    meta: { width: '14%' },
    cell: ({
      row: {
        original: { tenant, tier },
      },
    }) => (
      <span className={classes.figure}>
        {isReserved(tenant) ? (
          <span className={classes.tenant}>{tenant}</span>
        ) : (
          <Link to="/tenants/$slug" params={{ slug: tenant }} className={classes.tenant}>
            {tenant}
          </Link>
        )}
        {tier === null ? null : (
          <Link to="/tiers/$slug" params={{ slug: tier }} className={classes.tier}>
            {tier} tier
          </Link>
        )}
      </span>
    ),
  }),
  column.display({
    id: 'subject',
    header: 'Subject',
    cell: ({
      row: {
        original: { subject },
      },
    }) => (
      <span className={classes.subject}>
        <Badge>{subject.scope}</Badge>
        <code title={subject.id}>{subject.id}</code>
      </span>
    ),
  }),
  column.display({
    id: 'limits',
    header: 'Limits hit',
    cell: ({
      row: {
        original: { limits },
      },
    }) => (
      <span className={classes.limits}>
        {limits.slice(0, 3).map(({ name, denials }) => (
          <Badge key={name} tone="warn">
            {name} × {formatCount(denials)}
          </Badge>
        ))}
        {limits.length > 3 ? <span className={classes.more}>+{limits.length - 3}</span> : null}
      </span>
    ),
  }),
  column.display({
    id: 'denials',
    header: 'Denials',
    meta: { isNumeric: true },
    cell: ({
      row: {
        original: { denials, error },
      },
    }) => (
      <span className={classes.figure}>
        <strong className={classes.denials}>{formatCount(denials)}</strong>
        {error === 0 ? null : <span className={classes.more}>± {formatCount(error)} at most</span>}
      </span>
    ),
  }),
  column.display({
    id: 'share',
    header: 'Of all denials',
    meta: { width: '120px' },
    cell: ({
      row: {
        original: { share, tenant },
      },
    }) => (
      <span className={classes.share}>
        <svg
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          role="img"
          aria-label={`${tenant}: ${formatPercent(Math.round(share * 1000) / 10, share > 0)} of all denials`}
        >
          <rect className={classes.track} width="100" height="6" />
          <rect className={classes.fill} width={share * 100} height="6" />
        </svg>
        <span>{formatPercent(Math.round(share * 1000) / 10, share > 0)}</span>
      </span>
    ),
  }),
  column.display({
    id: 'honours',
    header: 'Waits as told',
    cell: ({
      row: {
        original: { honoursRetryAfter },
      },
    }) =>
      honoursRetryAfter === null ? (
        <span className={classes.more} title="No retry was seen">
          –
        </span>
      ) : honoursRetryAfter ? (
        <Badge tone="good">yes</Badge>
      ) : (
        <Badge tone="bad">retries early</Badge>
      ),
  }),
  column.display({ id: 'seen', header: 'Last denied', cell: ({ row: { original: offender } }) => <Time at={offender.lastSeen} as="relative" /> }),
  column.display({
    id: 'actions',
    header: () => <span className={classes.hidden}>Actions</span>,
    meta: { isNumeric: true, width: '120px' },
    cell: ({
      row: {
        original: { tenant, subject },
      },
    }) => (
      <span className={classes.actions}>
        {isReserved(tenant) && subject.scope === 'tenant' ? null : <PenaliseLink tenant={tenant} subject={subject} />}
        {isReserved(tenant) ? null : <RaiseLink tenant={tenant} isCompact />}
      </span>
    ),
  }),
];

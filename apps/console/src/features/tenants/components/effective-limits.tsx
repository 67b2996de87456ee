import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { CompiledLimit, TenantPolicy } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Count, Rate, Time } from '../../../components/figures';
import { Notice } from '../../../components/notices';
import { formatCount } from '../../../format/number';
import { SourceBadge } from '../../overrides/components/source-badge';
import { extrasOf } from '../../tiers/components/limit-words';
import { ShadowBadge } from '../../tiers/components/shadow-badge';
import classes from './effective-limits.module.css';

/** The limits in force now, every number with where it comes from. */
export function EffectiveLimits({ policy }: { readonly policy: TenantPolicy }): ReactNode {
  return (
    <>
      <table className={classes.table} aria-label="Effective limits">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Limit</th>
            <th scope="col">Burst</th>
            <th scope="col">Applies to</th>
          </tr>
        </thead>
        <tbody>
          {policy.limits.map((limit) => (
            <tr key={limit.name}>
              <th scope="row">
                {limit.name}
                <span className={classes.sub}>{limit.algorithm}</span>
                {limit.mode === 'shadow' ? <ShadowBadge /> : null}
              </th>
              <td>
                <span className={classes.number}>
                  <Rate limit={limit.limit} windowMs={limit.windowMs} />
                </span>
                <SourceBadge source={limit.sources.limit} />
              </td>
              <td>
                {limit.burst === null ? (
                  <span className={classes.sub}>–</span>
                ) : (
                  <>
                    <span className={classes.number}>
                      <Count units={limit.burst} /> at once
                    </span>
                    <SourceBadge source={limit.sources.burst} />
                  </>
                )}
              </td>
              <td>
                <AppliesTo limit={limit} />
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">
              in flight<span className={classes.sub}>concurrency</span>
            </th>
            <td colSpan={3}>
              <span className={classes.number}>
                {policy.concurrency.limit === null ? (
                  'unlimited'
                ) : (
                  <>
                    <Count units={policy.concurrency.limit} unit="requests" /> at once
                  </>
                )}
              </span>
              <span className={classes.scope}>
                <SourceBadge source={policy.concurrency.source} />
              </span>
            </td>
          </tr>
          {policy.quotas.map((quota) => (
            <tr key={quota.meter}>
              <th scope="row">
                {quota.meter}
                <span className={classes.sub}>monthly quota</span>
              </th>
              <td colSpan={2}>
                <span className={classes.number}>
                  {quota.allowance === null ? (
                    'unlimited'
                  ) : (
                    <>
                      <Count units={quota.allowance} /> per month
                    </>
                  )}
                </span>
                <span className={classes.scope}>
                  <SourceBadge source={quota.sources.allowance} />
                  {quota.extras?.map(({ source, units }) => (
                    <span key={source} className={classes.scope}>
                      <SourceBadge source={source} />
                      <span className={classes.extra}>+ {formatCount(units)}</span>
                    </span>
                  ))}
                </span>
              </td>
              <td>
                past it: {quota.overage}
                {quota.throttle ? (
                  <>
                    {' '}
                    to <Rate limit={quota.throttle.limit} windowMs={quota.throttle.windowMs} />
                  </>
                ) : null}
                {quota.ceiling === undefined ? null : (
                  <span className={classes.ceiling}>
                    refused past <Count units={quota.ceiling} />
                  </span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {policy.dangling.map(({ overrideId, limit }) => (
        <Notice key={`${overrideId} ${limit}`} tone="warn">
          An override names the limit {limit}, which this tier lacks.
        </Notice>
      ))}
      <SingleSubjects policy={policy} />
      <UpcomingChange policy={policy} />
    </>
  );
}

function AppliesTo({ limit }: { readonly limit: CompiledLimit }): ReactNode {
  return (
    <span className={classes.scope}>
      <Badge>{limit.scope}</Badge>
      {limit.endpointClass === undefined ? null : (
        <Link to="/endpoint-classes" className={classes.sub}>
          class {limit.endpointClass}
        </Link>
      )}
      {extrasOf(limit).map((extra) => (
        <span key={extra} className={classes.extra}>
          {extra}
        </span>
      ))}
    </span>
  );
}

/** Who of the tenant has other numbers than these. */
function SingleSubjects({ policy: { tenant, subjects } }: { readonly policy: TenantPolicy }): ReactNode {
  const counted = [countOf(subjects.key, 'key'), countOf(subjects.user, 'user'), countOf(subjects.ip, 'address')].filter((words) => words !== '');
  if (counted.length === 0) return null;
  return (
    <p className={classes.upcoming}>
      {counted.join(', ')} {subjects.key + subjects.user + subjects.ip === 1 ? 'has' : 'have'} numbers of their own:{' '}
      <Link to="/overrides" search={{ tenant, state: 'all' }}>
        their overrides
      </Link>
    </p>
  );
}

const countOf = (count: number, word: string): string => (count === 0 ? '' : `${formatCount(count)} ${word}${count === 1 ? '' : word === 'address' ? 'es' : 's'}`);

/** A scheduled start or end is visible before it happens. */
function UpcomingChange({ policy }: { readonly policy: TenantPolicy }): ReactNode {
  const next = policy.upcoming.find(({ limits }) => JSON.stringify(numbersOf(limits)) !== JSON.stringify(numbersOf(policy.limits)));
  if (!next) return null;
  const changed = next.limits.filter((limit) => {
    const now = policy.limits.find(({ name }) => name === limit.name);
    return now?.limit !== limit.limit || now?.burst !== limit.burst;
  });
  return (
    <p className={classes.upcoming}>
      <Time at={next.fromMs} zone={policy.timezone} as="relative" />, at <Time at={next.fromMs} zone={policy.timezone} />, by itself:{' '}
      {changed.map((limit) => (
        <span key={limit.name} className={classes.change}>
          {limit.name} <Rate limit={limit.limit} windowMs={limit.windowMs} />
          {limit.burst === null ? null : (
            <>
              , burst <Count units={limit.burst} />
            </>
          )}
        </span>
      ))}
    </p>
  );
}

const numbersOf = (limits: readonly CompiledLimit[]) => limits.map(({ name, limit, burst }) => [name, limit, burst]);

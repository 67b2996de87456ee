import type { ReactNode } from 'react';
import { BUCKET_ALGORITHMS, type TierContent } from '@quotaplane/contracts';
import { Badge } from '../../../components/badge';
import { Count, Rate } from '../../../components/figures';
import { Empty } from '../../../components/notices';
import { extrasOf } from './limit-words';
import { quotaTags, toQuotaDraft } from './quota-values';
import { ShadowBadge } from './shadow-badge';
import classes from './tiers.module.css';

/** What a version gives, read only. */
export function TierLimits({ content }: { readonly content: TierContent }): ReactNode {
  if (content.limits.length + content.quotas.length === 0) return <Empty title="Nothing limits this tier">It has no limits and no quotas.</Empty>;
  return (
    <table className={classes.table} aria-label="Limits and quotas">
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Limit</th>
          <th scope="col">Burst</th>
          <th scope="col">Counts</th>
          <th scope="col">Algorithm</th>
        </tr>
      </thead>
      <tbody>
        {content.limits.map((limit) => (
          <tr key={limit.name}>
            <th scope="row">{limit.name}</th>
            <td>
              <Rate limit={limit.limit} windowMs={limit.windowMs} />
            </td>
            <td>
              {BUCKET_ALGORITHMS.includes(limit.algorithm) ? (
                <>
                  <Count units={limit.burst ?? limit.limit} /> at once
                </>
              ) : (
                '–'
              )}
            </td>
            <td>
              <Badge>{limit.scope}</Badge>
              {limit.endpointClass === undefined ? null : ` class ${limit.endpointClass}`}
            </td>
            <td>
              {limit.algorithm} {limit.mode === 'shadow' ? <ShadowBadge /> : null}
              {extrasOf(limit).map((extra) => (
                <span key={extra} className={classes.extras}>
                  {extra}
                </span>
              ))}
            </td>
          </tr>
        ))}
        <tr>
          <th scope="row">in flight</th>
          <td colSpan={4}>
            {content.concurrency === null ? (
              'unlimited'
            ) : (
              <>
                <Count units={content.concurrency} unit="requests" /> at once
              </>
            )}
          </td>
        </tr>
        {content.quotas.map((quota) => (
          <tr key={quota.meter}>
            <th scope="row">{quota.meter}</th>
            <td colSpan={2}>
              <Count units={quota.allowance} /> per month
            </td>
            <td colSpan={2}>
              past it: {quota.overage}
              {quota.throttle ? (
                <>
                  {' '}
                  to <Rate limit={quota.throttle.limit} windowMs={quota.throttle.windowMs} />
                </>
              ) : null}
              {quotaTags(toQuotaDraft(quota)).map((tag) => (
                <span key={tag} className={classes.extras}>
                  {tag}
                </span>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

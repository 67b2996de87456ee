import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { IconArrowRight } from '@tabler/icons-react';
import type { Tenant, tierPreview } from '@quotaplane/contracts';
import type { z } from 'zod';
import { Count, Time } from '../../../components/figures';
import { Loaded } from '../../../components/loaded';
import { tierPreviewOf, type TierMove } from '../api/tenant.queries';
import classes from './tier-preview.module.css';

type Preview = z.output<typeof tierPreview>;
type Figures = Preview['meters'][number]['before'];

/** Used, allowance and what is left of each meter, just before the change and just after it. */
export function TierPreview({ tenant, move }: { readonly tenant: Tenant; readonly move: TierMove }): ReactNode {
  const preview = useQuery(tierPreviewOf(tenant.slug, move));
  return (
    <div className={classes.frame} aria-busy={preview.isPlaceholderData} data-stale={preview.isPlaceholderData || undefined}>
      <Loaded query={preview} heightPx={72}>
        {(read) => <Table preview={read} zone={tenant.timezone} />}
      </Loaded>
    </div>
  );
}

function Table({ preview: { meters, from, to, effectiveAt, asOf }, zone }: { readonly preview: Preview; readonly zone: string }): ReactNode {
  if (meters.length === 0) {
    return (
      <p className={classes.note}>
        Neither {from} nor {to} has a monthly quota, so there is nothing to carry.
      </p>
    );
  }
  return (
    <>
      <table className={classes.table} aria-label="Quotas before and after">
        <thead>
          <tr>
            <th scope="col">Meter</th>
            <th scope="col">Used</th>
            <th scope="col">Allowance</th>
            <th scope="col">Left</th>
          </tr>
        </thead>
        <tbody>
          {meters.map(({ meter, before, after }) => (
            <tr key={meter}>
              <th scope="row">
                {meter}
                {before === null ? <span className={classes.sub}>new with {to}</span> : null}
                {after === null ? <span className={classes.sub}>{to} has no quota of it</span> : null}
              </th>
              <Change before={before} after={after} of="used" name="Used" />
              <Change before={before} after={after} of="allowance" name="Allowance" />
              <Change before={before} after={after} of="remaining" name="Left" />
            </tr>
          ))}
        </tbody>
      </table>
      <p className={classes.note}>
        At <Time at={effectiveAt} zone={zone} />, by the usage as of <Time at={asOf} zone={zone} as="clock" />.
      </p>
    </>
  );
}

interface ChangeProps {
  readonly before: Figures;
  readonly after: Figures;
  readonly of: 'used' | 'allowance' | 'remaining';
  readonly name: string;
}

function Change({ before, after, of, name }: ChangeProps): ReactNode {
  const isSame = before !== null && after !== null && before[of] === after[of];
  return (
    <td data-label={name}>
      <span className={classes.change}>
        {before === null ? '–' : <Count units={before[of]} />}
        {isSame ? null : (
          <>
            <IconArrowRight size={14} aria-label="becomes" />
            <strong>{after === null ? 'no quota' : <Count units={after[of]} />}</strong>
          </>
        )}
      </span>
    </td>
  );
}

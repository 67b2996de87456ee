import { useId, useState, type ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { IconChevronRight, IconRobot, IconSettings, IconUser } from '@tabler/icons-react';
import type { AuditEntry } from '@quotaplane/contracts';
import { DiffTable } from '../../../components/diff-table';
import { Time } from '../../../components/figures';
import { diffJson } from '../../../format/json-diff';
import { describeAction, entityName } from './audit-words';
import classes from './audit.module.css';

const ACTOR_ICONS = { operator: IconUser, token: IconRobot, system: IconSettings } as const;

interface AuditEntryItemProps {
  readonly entry: AuditEntry;
  readonly zone?: string;
  /** On the page of what it is about, whose name need not be said again. */
  readonly isAtHome?: boolean;
}

/** Who, when, what and why on one line; before and after field by field beneath. */
export function AuditEntryItem({ entry, zone, isAtHome = false }: AuditEntryItemProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const detailId = useId();
  const Icon = ACTOR_ICONS[entry.actor.kind];
  const differences = diffJson(entry.before ?? undefined, entry.after ?? undefined);
  return (
    <li className={classes.item}>
      <button type="button" className={classes.line} aria-expanded={isOpen} aria-controls={detailId} onClick={() => setOpen(!isOpen)}>
        <IconChevronRight size={15} className={classes.chevron} data-open={isOpen || undefined} aria-hidden />
        <span className={classes.what}>
          <strong>{describeAction(entry)}</strong>
          {isAtHome ? null : ` · ${entityName(entry)}`}
        </span>
        <span className={classes.why}>{entry.reason ?? <span className={classes.noReason}>{entry.actor.kind === 'system' ? 'by the system itself' : 'no reason asked'}</span>}</span>
        <span className={classes.who}>
          <Icon size={14} aria-label={entry.actor.kind} />
          {entry.actor.name}
        </span>
        <span className={classes.when}>
          <Time at={entry.at} zone={zone} />
        </span>
      </button>
      <div id={detailId} className={classes.detail} hidden={!isOpen}>
        {isOpen ? (
          <>
            <DiffTable label={`Before and after: ${describeAction(entry)}`} differences={differences} />
            <p className={classes.meta}>
              <span>{entry.action}</span>
              <span>
                {entry.entity.type} <code>{entry.entity.id}</code>
              </span>
              {entry.ticket === null ? null : (
                <span>
                  ticket <code>{entry.ticket}</code>
                </span>
              )}
              {entry.requestId === null ? null : (
                <span>
                  request <code>{entry.requestId}</code>
                </span>
              )}
              <span>
                chain {entry.chain} #{entry.seq} <code title={entry.hash}>{entry.hash.slice(0, 12)}</code>
              </span>
              {entry.tenant === null ? null : (
                <Link to="/tenants/$slug" params={{ slug: entry.tenant }}>
                  Open {entry.tenant}
                </Link>
              )}
            </p>
          </>
        ) : null}
      </div>
    </li>
  );
}

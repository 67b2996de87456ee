import { useMemo, type ReactNode } from 'react';
import { Button, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconHistory } from '@tabler/icons-react';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page } from '../../../components/page';
import { fromLocalInput, OPERATOR_ZONE } from '../../../format/time';
import { auditListQuery, type AuditFilter } from '../api/audit.queries';
import classes from '../components/audit.module.css';
import { AuditEntryItem } from '../components/audit-entry-item';
import { VerifiedBadge } from '../components/verified-badge';
import { auditSearch, type AuditSearch } from './audit.search';

const route = getRouteApi('/console/audit');

export function AuditPage(): ReactNode {
  const search = auditSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const log = useInfiniteQuery(auditListQuery(toFilter(search)));
  const entries = useMemo(() => log.data?.pages.flatMap((page) => page.items) ?? [], [log.data]);
  const change = (changed: AuditSearch): void => void navigate({ to: '.', search: (before) => ({ ...before, ...changed }), replace: true });
  const clear = (): void => change({ tenant: undefined, entity: undefined, actor: undefined, action: undefined, from: undefined, to: undefined });
  const known = useMemo(
    () => ({ action: [...new Set(entries.map(({ action }) => action))].sort(), actor: [...new Set(entries.map(({ actor }) => actor.name))].sort() }),
    [entries],
  );
  const isFiltered = Object.values(search).some((value) => value !== undefined);
  return (
    <Page
      title="Audit"
      beside={<VerifiedBadge />}
      lead={<>Who changed what, when and why. Written in the change’s own transaction; times in {OPERATOR_ZONE}.</>}
    >
      <AuditFilters key={JSON.stringify(search)} search={search} known={known} onChange={change} />
      <section className={layout.panel} aria-label="Audit entries" aria-busy={log.isFetching}>
        <Loaded query={log} heightPx={360}>
          {() =>
            entries.length === 0 ? (
              <Empty
                title={isFiltered ? 'Nothing matches' : 'No change yet'}
                icon={<IconHistory size={32} stroke={1.4} aria-hidden />}
                next={
                  isFiltered ? (
                    <Button variant="default" onClick={clear}>
                      Clear the filters
                    </Button>
                  ) : undefined
                }
              >
                {isFiltered
                  ? 'No entry has all of these. Widen the dates or clear a filter.'
                  : 'The first change to a tenant, tier or key writes the first entry.'}
              </Empty>
            ) : (
              <ul className={classes.list}>
                {entries.map((entry) => (
                  <AuditEntryItem key={entry.id} entry={entry} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      <div className={layout.row}>
        {log.hasNextPage ? (
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            Older entries
          </Button>
        ) : null}
        <StaleMark error={log.error} updatedAtMs={log.dataUpdatedAt} />
      </div>
    </Page>
  );
}

const NEXT_DAY_MS = 86_400_000;

function toFilter({ from, to, ...rest }: AuditSearch): AuditFilter {
  const dayAfter = to === undefined ? undefined : new Date(Date.parse(`${to}T00:00:00Z`) + NEXT_DAY_MS).toISOString().slice(0, 10);
  return {
    ...rest,
    from: from === undefined ? undefined : fromLocalInput(`${from}T00:00`, OPERATOR_ZONE),
    to: dayAfter === undefined ? undefined : fromLocalInput(`${dayAfter}T00:00`, OPERATOR_ZONE),
  };
}

const TEXT_FILTERS = [
  ['tenant', 'Tenant'],
  ['actor', 'Actor'],
  ['action', 'Action'],
  ['entity', 'Entity id'],
] as const;
const DAY_FILTERS = [
  ['from', 'From day', 'from'],
  ['to', 'To day', 'to'],
] as const;

interface AuditFiltersProps {
  readonly search: AuditSearch;
  /** What the entries shown name, offered while typing. */
  readonly known: { readonly action: readonly string[]; readonly actor: readonly string[] };
  readonly onChange: (change: AuditSearch) => void;
}

function AuditFilters({ search, known, onChange }: AuditFiltersProps): ReactNode {
  const apply = useDebouncedCallback((name: keyof AuditSearch, value: string) => onChange({ [name]: value.trim() || undefined }), 350);
  return (
    <div className={layout.toolbar} role="search">
      {TEXT_FILTERS.map(([name, label]) => (
        <TextInput
          key={name}
          w={name === 'entity' ? 220 : 150}
          aria-label={label}
          placeholder={label}
          list={name === 'action' || name === 'actor' ? `audit-${name}s` : undefined}
          defaultValue={search[name] ?? ''}
          onChange={(event) => apply(name, event.currentTarget.value)}
        />
      ))}
      {(['action', 'actor'] as const).map((name) => (
        <datalist key={name} id={`audit-${name}s`}>
          {known[name].map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      ))}
      {DAY_FILTERS.map(([name, label, word]) => (
        <TextInput
          key={name}
          type="date"
          w={190}
          aria-label={label}
          leftSection={
            <span aria-hidden className={classes.word}>
              {word}
            </span>
          }
          leftSectionWidth={48}
          defaultValue={search[name] ?? ''}
          onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
        />
      ))}
    </div>
  );
}

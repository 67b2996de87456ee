import { useState, type ReactNode } from 'react';
import { Button, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { IconPlayerPause, IconPlayerPlay, IconShieldCheck } from '@tabler/icons-react';
import { DataTable } from '../../../components/data-table';
import layout from '../../../components/layout.module.css';
import { Loaded } from '../../../components/loaded';
import { Empty, StaleMark } from '../../../components/notices';
import { Page } from '../../../components/page';
import { offendersQuery } from '../api/offender.queries';
import { offenderColumns, offenderKey } from '../components/offender-columns';
import classes from '../components/offenders.module.css';
import { useSteadyRows } from '../components/use-steady-rows';
import { OFFENDER_WINDOWS, offendersSearch } from './offenders.search';

const route = getRouteApi('/console/offenders');
const WINDOW_WORDS = { 1: '1 m', 15: '15 m', 60: '1 h' } as const;

export function OffendersPage(): ReactNode {
  const { minutes = 15 } = offendersSearch.parse(route.useSearch());
  const navigate = route.useNavigate();
  const [isPaused, setPaused] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const offenders = useQuery(offendersQuery(minutes, { isPaused }));
  const rows = useSteadyRows(offenders.data?.items ?? [], offenderKey, isHeld && !offenders.isPlaceholderData);
  return (
    <Page
      title="Offenders"
      lead="Who is being denied most, right now. Rows keep their place while the pointer or the focus is on the list."
      actions={
        <>
          <LiveMark isPaused={isPaused} isHeld={isHeld} />
          <SegmentedControl
            aria-label="Window"
            size="sm"
            value={String(minutes)}
            data={OFFENDER_WINDOWS.map((each) => ({ value: String(each), label: WINDOW_WORDS[each] }))}
            onChange={(value) =>
              void navigate({ to: '.', search: (before) => ({ ...before, ...offendersSearch.parse({ minutes: Number(value) }) }), replace: true })
            }
          />
          <Button
            variant="default"
            aria-pressed={isPaused}
            leftSection={isPaused ? <IconPlayerPlay size={16} /> : <IconPlayerPause size={16} />}
            onClick={() => setPaused(!isPaused)}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
        </>
      }
    >
      <section
        className={layout.panel}
        aria-label="Offenders"
        onPointerEnter={() => setHeld(true)}
        onPointerLeave={() => setHeld(false)}
        onFocus={() => setHeld(true)}
        onBlur={() => setHeld(false)}
      >
        <Loaded query={offenders} heightPx={360}>
          {() =>
            rows.length === 0 ? (
              <Empty title="Nobody is being denied" icon={<IconShieldCheck size={32} stroke={1.4} aria-hidden />}>
                No request was denied in the last {WINDOW_WORDS[minutes]}. This list fills by itself, within seconds of a denial.
              </Empty>
            ) : (
              <DataTable label="Offenders" columns={offenderColumns} rows={rows} rowKey={offenderKey} />
            )
          }
        </Loaded>
      </section>
      <StaleMark error={offenders.error} updatedAtMs={offenders.dataUpdatedAt} />
    </Page>
  );
}

function LiveMark({ isPaused, isHeld }: { readonly isPaused: boolean; readonly isHeld: boolean }): ReactNode {
  return (
    <span className={classes.live}>
      <span className={classes.dot} data-still={isPaused || undefined} aria-hidden />
      {isPaused ? 'paused' : isHeld ? 'live, order held' : 'live'}
    </span>
  );
}

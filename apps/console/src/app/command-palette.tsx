import { useEffect, useState, type ReactNode } from 'react';
import { Spotlight } from '@mantine/spotlight';
import { IconSearch } from '@tabler/icons-react';
import { paletteStore as store } from './palette';
import { usePaletteGroups, type PaletteGroup } from './palette-groups';
import classes from './shell.module.css';

/** Everything by its name, without a mouse; `Ctrl-K` is use-shortcuts.ts's. */
export function CommandPalette(): ReactNode {
  const [query, setQuery] = useState('');
  const { groups, isSearching } = usePaletteGroups(query);
  useFirstSelected(groups);
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      scrollable
      maxHeight={440}
      transitionProps={{ duration: 0 }}
    >
      <Spotlight.Search
        placeholder="Find a tenant or tier, or type “raise hobby” or “grant hobby”"
        leftSection={<IconSearch size={18} stroke={1.7} />}
        aria-label="Search or run a command"
      />
      <Spotlight.ActionsList>
        {groups.map(([name, items]) => (
          <Spotlight.ActionsGroup key={name} label={name}>
            {items.map(({ label, description, icon, keys, run }) => (
              <Spotlight.Action
                key={label}
                label={label}
                description={description}
                leftSection={icon}
                rightSection={keys ? <kbd className={classes.keys}>{keys}</kbd> : undefined}
                onClick={run}
              />
            ))}
          </Spotlight.ActionsGroup>
        ))}
        {groups.length === 0 ? (
          <Spotlight.Empty>{isSearching ? 'Searching…' : 'Nothing found. Slugs and names are searched.'}</Spotlight.Empty>
        ) : null}
      </Spotlight.ActionsList>
    </Spotlight.Root>
  );
}

/** Enter runs the first result. Spotlight selects it as the query changes, before the server's answer is in the list. */
function useFirstSelected(groups: readonly PaletteGroup[]): void {
  const labels = groups.flatMap(([, items]) => items.map(({ label }) => label)).join('\n');
  useEffect(() => {
    const { listId, opened } = store.getState();
    const items = opened ? (document.getElementById(listId)?.querySelectorAll('[data-action]') ?? []) : [];
    if (items.length === 0) return;
    items.forEach((item, index) => item.toggleAttribute('data-selected', index === 0));
    store.updateState((state) => ({ ...state, selected: 0 }));
  }, [labels]);
}

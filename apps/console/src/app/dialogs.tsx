import { lazy, Suspense, useState, type ReactNode } from 'react';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { withStyles } from '../styles/with-styles';

// Loaded when the first of them is asked for: their forms are more than half of the console.
const RaiseDialog = lazy(async () => ({ default: (await withStyles(() => import('../features/overrides/components/raise-dialog'))).RaiseDialog }));
const GrantDialog = lazy(async () => ({ default: (await withStyles(() => import('../features/top-ups/components/grant-dialog'))).GrantDialog }));
const EntryDialog = lazy(async () => ({ default: (await withStyles(() => import('../features/lists/components/entry-dialog'))).EntryDialog }));

const route = getRouteApi('/console');

/** The dialogs to raise, grant and penalise, open over any page wherever the URL says so. */
export function Dialogs(): ReactNode {
  const { raise, grant, penalise } = route.useSearch();
  const navigate = useNavigate();
  const close = (name: 'raise' | 'grant' | 'penalise') => (): void =>
    void navigate({ to: '.', search: (before) => ({ ...before, [name]: undefined }), resetScroll: false });
  return (
    <Suspense fallback={null}>
      {useHasBeen(raise !== undefined) ? <RaiseDialog tenant={raise} onClose={close('raise')} /> : null}
      {useHasBeen(grant !== undefined) ? <GrantDialog tenant={grant} onClose={close('grant')} /> : null}
      {useHasBeen(penalise !== undefined) ? (
        <EntryDialog start={penalise && { ...penalise, list: 'penalty' }} lists={['penalty']} onClose={close('penalise')} />
      ) : null}
    </Suspense>
  );
}

/** From the first time on, so that a dialog that closes can still be seen closing. */
function useHasBeen(isWanted: boolean): boolean {
  const [hasBeen, setHasBeen] = useState(isWanted);
  if (isWanted && !hasBeen) setHasBeen(true);
  return hasBeen || isWanted;
}

import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { sessionQuery } from '../features/session/api/session.queries';
import { withStyles } from '../styles/with-styles';
import { OperatorButton } from './operator-button';

const OperatorMenu = lazy(async () => ({ default: (await withStyles(() => import('./operator-menu'))).OperatorMenu }));

/** The operator's button; its menu is loaded when the page has settled, or at once when it is wanted. */
export function Operator({ isSettled }: { readonly isSettled: boolean }): ReactNode {
  const { data: session } = useQuery(sessionQuery);
  const [isPressed, setPressed] = useState(false);
  const [hasFocus, setFocus] = useState(false);
  if (!session) return null;
  const early = <OperatorButton session={session} onClick={() => setPressed(true)} onFocus={() => setFocus(true)} onBlur={() => setFocus(false)} />;
  if (!isSettled && !isPressed) return early;
  return (
    <Suspense fallback={early}>
      <OperatorMenu session={session} startsOpen={isPressed} takesFocus={hasFocus} />
    </Suspense>
  );
}

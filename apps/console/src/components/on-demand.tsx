import { createElement, lazy, Suspense, useState, type ComponentType, type ReactNode } from 'react';

/**
 * A dialog whose file is loaded when it first opens, whole, so that it can put the focus where it belongs. Once loaded it stays: one that
 * closes can still be seen closing.
 * @param isOpen whether the dialog is open with these props
 */
export function onDemand<Props extends object>(load: () => Promise<ComponentType<Props>>, isOpen: (props: Props) => boolean): (props: Props) => ReactNode {
  const Dialog: ComponentType<Props> = lazy(async () => ({ default: await load() }));
  return function OnDemand(props) {
    const isWanted = isOpen(props);
    const [hasBeen, setHasBeen] = useState(isWanted);
    if (isWanted && !hasBeen) setHasBeen(true);
    return hasBeen || isWanted ? <Suspense fallback={null}>{createElement(Dialog, props)}</Suspense> : null;
  };
}

import { cloneElement, lazy, Suspense, useRef, useState, type HTMLAttributes, type PointerEvent, type ReactElement, type ReactNode } from 'react';
import { withStyles } from '../styles/with-styles';

const Bubble = lazy(async () => ({ default: (await withStyles(() => import('./tooltip-bubble'))).TooltipBubble }));

/** How long the pointer rests before the bubble opens, in ms. */
const REST_MS = 250;

interface TooltipProps {
  readonly label: string;
  /** One element that takes pointer events. */
  readonly children: ReactElement<HTMLAttributes<HTMLElement>>;
}

/**
 * Says more about an element while a mouse or pen rests on it. What places the bubble is loaded with the first one and set up only where a
 * pointer came: a table has hundreds of these.
 */
export function Tooltip({ label, children }: TooltipProps): ReactNode {
  const [target, setTarget] = useState<HTMLElement | null>(null);
  const [isOpen, setOpen] = useState(false);
  const timer = useRef<number>(undefined);
  const enter = ({ pointerType, currentTarget }: PointerEvent<HTMLElement>): void => {
    if (pointerType === 'touch') return;
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      if (!currentTarget.isConnected) return;
      setTarget(currentTarget);
      setOpen(true);
    }, REST_MS);
  };
  const close = (): void => {
    window.clearTimeout(timer.current);
    setOpen(false);
  };
  return (
    <>
      {cloneElement(children, { onPointerEnter: enter, onPointerLeave: close })}
      {target === null ? null : (
        <Suspense fallback={null}>
          <Bubble target={target} label={label} isOpen={isOpen} onClose={close} />
        </Suspense>
      )}
    </>
  );
}

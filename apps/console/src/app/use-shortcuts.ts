import { useEffect, useRef } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { ALL_DESTINATIONS } from './navigation';

/** How long `g` waits for its second key, in ms. */
const CHORD_MS = 1500;

interface Shortcuts {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

/** `Ctrl-K` opens the palette from anywhere; `g t` and its like go to pages, `?` shows them all, but typing in a field or an open dialog is left alone. */
export function useShortcuts({ onHelp, onPalette }: Shortcuts): void {
  const navigate = useNavigate();
  const chordAtMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (isForPalette(event)) {
        event.preventDefault();
        onPalette();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      // By the time of the key, not of its handling: a busy page must not swallow it.
      const isSecond = event.timeStamp - chordAtMs.current < CHORD_MS;
      chordAtMs.current = event.key === 'g' && !isSecond ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (event.key === '?') onHelp();
      const destination = isSecond ? ALL_DESTINATIONS.find(({ key }) => key === event.key) : undefined;
      if (!destination) return;
      event.preventDefault();
      void navigate({ to: destination.to });
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [navigate, onHelp, onPalette]);
}

const isForPalette = ({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean =>
  key.toLowerCase() === 'k' && (ctrlKey || metaKey) && !altKey && !shiftKey;

function isBusy(target: EventTarget | null): boolean {
  const isTyping = target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
  return isTyping || document.querySelector('[role="dialog"][aria-modal="true"]') !== null;
}

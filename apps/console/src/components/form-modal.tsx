import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Modal } from '@mantine/core';
import { ConfirmDialog } from './confirm-dialog';

export interface FormExit {
  /** Closes, but asks first where something was typed. */
  readonly leave: () => void;
  /** What was typed is saved: closing needs no question any more. */
  readonly settle: () => void;
}

interface FormModalProps {
  readonly isOpen: boolean;
  readonly title: string;
  readonly size?: string | number;
  readonly isFullScreen?: boolean;
  readonly onClose: () => void;
  readonly children: (exit: FormExit) => ReactNode;
}

/** A form in a dialog. Escape, the cross and Cancel ask before they throw away what was typed. */
export function FormModal({ isOpen, title, size, isFullScreen = false, onClose, children }: FormModalProps): ReactNode {
  const isTyped = useRef(false);
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    // Whoever opens it again starts with nothing typed, however it was closed.
    if (!isOpen) isTyped.current = false;
  }, [isOpen]);
  const settle = (): void => void (isTyped.current = false);
  const close = (): void => {
    settle();
    setAsking(false);
    onClose();
  };
  // Later than the key press, or the dialog that it opens would take the same Escape for its own.
  const ask = (isOpenThen: boolean): void => void window.setTimeout(() => setAsking(isOpenThen));
  const leave = (): void => (isTyped.current ? ask(true) : close());
  return (
    <>
      <Modal
        opened={isOpen}
        onClose={leave}
        title={title}
        size={size}
        fullScreen={isFullScreen}
        closeOnClickOutside={false}
        // The question above it takes Escape for itself.
        closeOnEscape={!isAsking}
      >
        <div onInput={() => void (isTyped.current = true)}>{isOpen ? children({ leave, settle }) : null}</div>
      </Modal>
      <ConfirmDialog
        isOpen={isAsking}
        title="Throw away what you typed?"
        action="Throw away"
        cancel="Keep editing"
        isRunning={false}
        problem={null}
        size="sm"
        onClose={() => ask(false)}
        onConfirm={close}
      >
        Nothing of this form is saved yet.
      </ConfirmDialog>
    </>
  );
}

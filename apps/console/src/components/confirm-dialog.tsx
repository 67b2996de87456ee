import type { ReactNode } from 'react';
import { Button, Modal } from '@mantine/core';
import { ProblemNotice } from './notices';
import layout from './layout.module.css';

interface ConfirmDialogProps {
  readonly isOpen: boolean;
  readonly title: string;
  /** The verb of the button that does it. */
  readonly action: string;
  readonly cancel?: string;
  readonly isDangerous?: boolean;
  readonly isRunning: boolean;
  readonly problem: unknown;
  readonly onClose: () => void;
  readonly onConfirm: () => void;
  readonly size?: string | number;
  readonly children: ReactNode;
}

/** One review of what cannot be undone by a click. The focus starts on Cancel, so Enter does not do it. */
export function ConfirmDialog({
  isOpen,
  title,
  action,
  cancel = 'Cancel',
  isDangerous = true,
  isRunning,
  problem,
  onClose,
  onConfirm,
  size = 'md',
  children,
}: ConfirmDialogProps): ReactNode {
  return (
    <Modal opened={isOpen} onClose={onClose} title={title} size={size}>
      <div className={layout.tight}>
        <div>{children}</div>
        {problem ? <ProblemNotice error={problem} /> : null}
        <div className={layout.row}>
          <span className={layout.spring} />
          <Button variant="default" onClick={onClose} data-autofocus>
            {cancel}
          </Button>
          <Button color={isDangerous ? 'red' : undefined} loading={isRunning} onClick={onConfirm}>
            {action}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

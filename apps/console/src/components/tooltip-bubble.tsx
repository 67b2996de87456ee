import { useEffect, type ReactNode } from 'react';
import { Tooltip } from '@mantine/core';

interface TooltipBubbleProps {
  readonly target: HTMLElement;
  readonly label: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** The bubble of tooltip.tsx; Escape closes it without moving the pointer. */
export function TooltipBubble({ target, label, isOpen, onClose }: TooltipBubbleProps): ReactNode {
  useEffect(() => {
    if (!isOpen) return undefined;
    const onKeyDown = ({ key }: KeyboardEvent): void => void (key === 'Escape' && onClose());
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [isOpen, onClose]);
  return <Tooltip target={target} label={label} opened={isOpen} />;
}

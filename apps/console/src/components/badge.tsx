import type { ReactNode } from 'react';
import { IconAlertTriangle, IconBan, IconCheck, IconCircleDashed } from '@tabler/icons-react';
import classes from './badge.module.css';

export type Tone = 'good' | 'warn' | 'bad' | 'brand' | 'calm';

const ICONS = { good: IconCheck, warn: IconAlertTriangle, bad: IconBan, brand: undefined, calm: undefined } as const;

interface BadgeProps {
  readonly tone?: Tone;
  /** Replaces the tone's own icon; null for none. Colour alone never carries the meaning: the word does. */
  readonly icon?: ReactNode;
  readonly isMono?: boolean;
  readonly title?: string;
  readonly children: ReactNode;
}

export function badgeClass(tone: Tone, isMono = false): string {
  return [classes.badge, tone === 'calm' ? '' : classes[tone], isMono ? classes.mono : ''].join(' ').trim();
}

/** A short state in words, with the tone as a second cue. */
export function Badge({ tone = 'calm', icon, isMono = false, title, children }: BadgeProps): ReactNode {
  const Icon = ICONS[tone];
  return (
    <span className={badgeClass(tone, isMono)} title={title}>
      {icon === undefined ? Icon ? <Icon size={12} stroke={2.4} aria-hidden /> : null : icon}
      {children}
    </span>
  );
}

export const DashedIcon = <IconCircleDashed size={12} stroke={2.2} aria-hidden />;

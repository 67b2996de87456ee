import type { ReactNode } from 'react';

/** A gauge with its needle as a paper plane. */
export function Logo({ size = 24 }: { readonly size?: number }): ReactNode {
  return (
    <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden>
      <rect width="32" height="32" rx="8" fill="#3355d1" />
      <path d="M8.2 21.5a9 9 0 1 1 15.6 0" fill="none" stroke="#fff" strokeOpacity=".38" strokeWidth="3.2" strokeLinecap="round" />
      <path d="M8.2 21.5A9 9 0 0 1 18 8.2" fill="none" stroke="#fff" strokeWidth="3.2" strokeLinecap="round" />
      <path d="m14.2 18.6 7.4-5.9-4.9 8.1z" fill="#fff" />
    </svg>
  );
}

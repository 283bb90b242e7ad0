import type { ReactNode } from 'react';

interface ScrollBoxProps {
  /** Differs from the name of the panel around it. */
  readonly label: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A region that scrolls; it takes the focus, so that the keyboard can scroll it. By default, a list that stays at its end. */
export function ScrollBox({ label, className = 'scroll-list', children }: ScrollBoxProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has no other way to be reached
    <section className={`scroll-box ${className}`} aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

import type { ReactNode } from 'react';

interface ScrollBoxProps {
  /** Id of its heading. */
  readonly labelledBy: string;
  readonly children: ReactNode;
}

/** A list of fixed height that stays at its end. The keyboard scrolls it, so it takes the focus. */
export function ScrollBox({ labelledBy, children }: ScrollBoxProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has no other way to be reached
    <section className="scroll-box" aria-labelledby={labelledBy} tabIndex={0}>
      {children}
    </section>
  );
}

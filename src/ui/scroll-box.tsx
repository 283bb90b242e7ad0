import type { ReactNode } from 'react';

interface ScrollBoxProps {
  /** What it holds; another name than that of the panel around it. */
  readonly label: string;
  readonly children: ReactNode;
}

/** A list of fixed height that stays at its end. The keyboard scrolls it, so it takes the focus. */
export function ScrollBox({ label, children }: ScrollBoxProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has no other way to be reached
    <section className="scroll-box" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

import type { ComponentProps } from 'react';

interface ScrollBoxProps extends Omit<ComponentProps<'section'>, 'aria-label' | 'tabIndex'> {
  /** Differs from the name of the panel around it. */
  readonly label: string;
}

/** A region that scrolls; it takes the focus, so that the keyboard can scroll it. By default, a list that stays at its end. */
export function ScrollBox({ label, className = 'scroll-list', ...props }: ScrollBoxProps) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls has no other way to be reached
    <section className={`scroll-box ${className}`} aria-label={label} tabIndex={0} {...props} />
  );
}

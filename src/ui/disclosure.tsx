import { useState } from 'react';
import type { ReactNode } from 'react';

interface DisclosureProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** Starts open on a wide screen and closed on a phone. */
export function Disclosure({ title, children }: DisclosureProps) {
  const [isOpen, setIsOpen] = useState(() => matchMedia('(min-width: 60rem)').matches);
  return (
    <details className="disclosure" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

import { useState } from 'react';
import type { ReactNode } from 'react';

interface DisclosureProps {
  readonly title: string;
  readonly children: ReactNode;
}

/** Open where there is room for it; on a phone the reader opens it. */
export function Disclosure({ title, children }: DisclosureProps) {
  const [isOpen, setIsOpen] = useState(() => matchMedia('(min-width: 60rem)').matches);
  return (
    <details className="disclosure" open={isOpen} onToggle={(event) => setIsOpen(event.currentTarget.open)}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}

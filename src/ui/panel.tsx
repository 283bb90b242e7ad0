import { useId } from 'react';
import type { ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly className: string;
  readonly children: ReactNode;
}

export function Panel({ title, className, children }: PanelProps) {
  const id = useId();
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}

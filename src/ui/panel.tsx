import { useId } from 'react';
import type { ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly className?: string | undefined;
  /** Stands beside the title. */
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, className = '', head, children }: PanelProps) {
  const id = useId();
  const heading = <h2 id={id}>{title}</h2>;
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      {head === undefined ? (
        heading
      ) : (
        <div className="panel-head">
          {heading}
          {head}
        </div>
      )}
      {children}
    </section>
  );
}

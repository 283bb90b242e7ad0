import { useId, type ReactNode } from 'react';

interface PanelProps {
  readonly title: string;
  readonly className?: string | undefined;
  readonly head?: ReactNode;
  readonly children: ReactNode;
}

export function Panel({ title, className = '', head, children }: PanelProps) {
  const id = useId();
  return (
    <section className={`panel ${className}`} aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id}>{title}</h2>
        {head}
      </div>
      {children}
    </section>
  );
}

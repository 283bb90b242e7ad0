import type { FormEvent, ReactNode } from 'react';

import { Button } from '../button.tsx';
import { Panel } from '../panel.tsx';

interface QueryFormProps {
  readonly title: string;
  readonly className?: string;
  /** The fields. */
  readonly children: ReactNode;
  readonly onSend: (numQueries: number) => void;
  /** One button for each of these numbers of queries. */
  readonly counts: readonly number[];
  /** Further buttons. */
  readonly actions?: ReactNode;
  /** Explains the buttons. */
  readonly hint?: string;
}

/** Sends one query with Enter, and several by a button. */
export function QueryForm({ title, className, children, onSend, counts, actions, hint }: QueryFormProps) {
  const sendOne = (event: FormEvent): void => {
    event.preventDefault();
    onSend(1);
  };
  return (
    <Panel title={title} className={className}>
      <form onSubmit={sendOne} noValidate>
        {children}
        <div className="actions">
          <Button type="submit" look="primary">
            Send
          </Button>
          {counts.map((count) => (
            <Button key={count} onClick={() => onSend(count)}>
              Send {count} queries
            </Button>
          ))}
          {actions}
        </div>
        {hint !== undefined && <p className="field-hint">{hint}</p>}
      </form>
    </Panel>
  );
}

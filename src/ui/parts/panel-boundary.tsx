import { Component, Suspense, type ReactNode } from 'react';

import type { WireError } from '../../client/index.ts';
import { Button } from './button.tsx';
import { ErrorLine } from './error-line.tsx';
import { toWireError } from './to-wire-error.ts';

interface PanelBoundaryProps {
  readonly name: string;
  readonly children: ReactNode;
}

interface PanelBoundaryState {
  readonly error?: WireError | undefined;
}

/** Waits for a panel's code, and shows its failure in its place while the others keep working. React requires a class here. */
export class PanelBoundary extends Component<PanelBoundaryProps, PanelBoundaryState> {
  static getDerivedStateFromError(caught: unknown): PanelBoundaryState {
    return { error: toWireError(caught) };
  }

  override state: PanelBoundaryState = {};

  override render(): ReactNode {
    const { error } = this.state;
    const { name, children } = this.props;
    if (!error) return <Suspense>{children}</Suspense>;
    return (
      <section className="panel" role="alert">
        <h2>Couldn’t show {name}</h2>
        <ErrorLine error={error} />
        <div className="actions">
          {error.code === 'PAGE_OUTDATED' ? (
            <Button onClick={() => location.reload()}>Reload the page</Button>
          ) : (
            <Button onClick={() => this.setState({ error: undefined })}>Try again</Button>
          )}
        </div>
      </section>
    );
  }
}

export function Part({ name, content }: { readonly name: string; readonly content: ReactNode }) {
  return <PanelBoundary name={name}>{content}</PanelBoundary>;
}

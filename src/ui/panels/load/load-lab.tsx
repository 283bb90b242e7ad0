import { useEffect, useRef, useState } from 'react';
import { useStore } from 'zustand';

import { TEXT_GENERATOR } from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { Form } from '../../parts/form.tsx';
import { Segments } from '../../parts/segments.tsx';
import { readPermalink } from '../../state/permalink.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { LoadExport } from './load-export.tsx';
import { LoadFields, type SessionProps } from './load-fields.tsx';
import { DEFAULT_LOAD_FORM, MODES, readLoadForm, type Mode } from './load-form.ts';
import './load-lab.css';
import { LoadProgress } from './load-progress.tsx';
import { LoadResultsView } from './load-results.tsx';
import { LoadSession } from './load-session.ts';
import { createLoadTarget, type LoadedDeployment } from './load-target.ts';
import { createTrialRecorder } from '../trials/trial-slots.ts';

const EXPLANATIONS: Readonly<Record<Mode, string>> = {
  run: 'Measures the settings in force.',
  sweep: 'Shows latency as the rate grows.',
  compare: 'Measures each policy in turn.',
};

const EMPTY_TEXTS: Readonly<Record<Mode, string>> = {
  run: 'Measure sends the requests under the settings in force. Press Start.',
  sweep: 'Sweep sends the requests at six rates and draws latency over throughput. Press Start.',
  compare: 'Compare sends the same requests under off, static and continuous. Press Start.',
};

const FORM_ID = 'load-form';

interface LoadLabProps {
  readonly deployment: LoadedDeployment;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** A drawer that leaves the charts in view. */
export function LoadLab({ deployment, isOpen, onClose }: LoadLabProps) {
  const { serve, store } = useServe();
  const [session] = useState(() => {
    const generates = deployment === TEXT_GENERATOR;
    const recorder = generates ? createTrialRecorder(store) : undefined;
    const form = generates
      ? readLoadForm(readPermalink(location.hash).load)
      : ({ ...DEFAULT_LOAD_FORM, mode: 'run' } as const);
    return new LoadSession(createLoadTarget(serve, deployment), recorder, form);
  });
  const drawerRef = useRef<HTMLElement>(null);

  useEffect(() => {
    if (isOpen) moveFocusInto(drawerRef.current);
  }, [isOpen]);

  const close = (): void => {
    drawerRef.current?.parentElement?.querySelector<HTMLElement>('.lab-button')?.focus();
    onClose();
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape works wherever the focus is inside
    <aside
      ref={drawerRef}
      className="lab"
      aria-label="Load lab"
      hidden={!isOpen}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        close();
      }}
    >
      <LabHead session={session} onClose={close} />
      <LabBody session={session} />
    </aside>
  );
}

function LabHead({ session, onClose }: SessionProps & Pick<LoadLabProps, 'onClose'>) {
  const mode = useStore(session.store, (view) => view.form.mode);
  const modes = MODES.filter(([each]) => each !== 'compare' || session.target.override);
  return (
    <header className="lab-head cluster">
      <h2>Load lab</h2>
      <Segments
        legend="What to do"
        name="mode"
        value={mode}
        choices={modes}
        onChange={(chosen) => session.change({ mode: chosen })}
      />
      <StartButton session={session} />
      <p className="lab-explanation note">{EXPLANATIONS[mode]}</p>
      <LoadExport session={session} />
      <Button variant="quiet" onClick={onClose}>
        Close
      </Button>
    </header>
  );
}

function LabBody({ session }: SessionProps) {
  const bodyRef = useRef<HTMLDivElement>(null);
  const resultsRef = useRef<HTMLDivElement>(null);
  const start = (): void => {
    void session.start();
    // Brings the progress into view: on a phone it is above the fields.
    for (const { current } of [bodyRef, resultsRef]) current?.scrollTo(0, 0);
  };
  return (
    <div className="lab-body" ref={bodyRef}>
      <Form id={FORM_ID} onSubmit={start}>
        <LoadFields session={session} />
      </Form>
      <div className="lab-results" ref={resultsRef}>
        <LoadProgress session={session} />
        <Results session={session} />
      </div>
    </div>
  );
}

function Results({ session }: SessionProps) {
  const mode = useStore(session.store, (view) => view.form.mode);
  const results = useStore(session.store, (view) => view.results);
  return results ? (
    <LoadResultsView results={results} />
  ) : (
    <p className="lab-empty center note">{EMPTY_TEXTS[mode]}</p>
  );
}

/** One button, so that the focus stays on it when its meaning changes. */
function StartButton({ session }: SessionProps) {
  const isRunning = useStore(session.store, (view) => view.isRunning);
  const canSend = useServeView(
    ({ status }) => session.target.deployment !== TEXT_GENERATOR || canGenerate(status.state),
  );
  if (isRunning) {
    return (
      <Button className="lab-start" onClick={() => session.stop()}>
        Stop
      </Button>
    );
  }
  return (
    <Button type="submit" form={FORM_ID} className="lab-start button-primary" disabled={!canSend}>
      Start
    </Button>
  );
}

/** Not from a control that the reader uses: a link opens the drawer by itself. */
function moveFocusInto(drawer: HTMLElement | null): void {
  const { activeElement, body } = document;
  if (activeElement !== body && !activeElement?.matches('.lab-button')) return;
  drawer?.querySelector<HTMLElement>('input:checked')?.focus();
}

import { useState } from 'react';
import { useStore } from 'zustand';

import { Button } from '../button.tsx';
import { useComposer } from '../compose/composer-context.ts';
import { ErrorLine } from '../error-line.tsx';
import { Form } from '../form.tsx';
import { formatCount, formatMs } from '../format.ts';
import { Panel } from '../panel.tsx';
import { Segments } from '../segments.tsx';
import { readPermalink, withPermalink } from '../share/permalink.ts';
import { canGenerate } from '../state/can-generate.ts';
import { useServe, useServeView } from '../state/serve-context.ts';
import { LoadFields } from './load-fields.tsx';
import { MODES, readLoadForm, writeLoadForm } from './load-form.ts';
import type { Mode } from './load-form.ts';
import './load-panel.css';
import { LoadResultsView } from './load-results.tsx';
import { LoadSession } from './load-session.ts';
import type { LoadView } from './load-session.ts';

const MODE_EXPLANATIONS: Readonly<Record<Mode, string>> = {
  run: 'Sends the requests under the current policy and measures them.',
  sweep: 'Runs at six rates around the given one. A curve shows how latency grows with throughput.',
  compare: 'Sends the same requests under off, static and continuous, one after another.',
  suggest:
    'Tries batch sizes, then batch waits, in 3 to 5 rounds each. Suggests what serves the most requests within the latency limit, if the rounds can tell.',
};

export function LoadPanel() {
  const { serve } = useServe();
  const [session] = useState(() => new LoadSession(serve, readLoadForm(readPermalink(location.hash).load)));
  const form = useStore(session.store, (view) => view.form);
  const error = useStore(session.store, (view) => view.error);
  const results = useStore(session.store, (view) => view.results);
  const isRunning = useStore(session.store, (view) => view.isRunning);
  const canSend = useServeView(({ status }) => canGenerate(status.state));

  return (
    <Panel title="Load test" className="load">
      <Form onSubmit={() => void session.start()}>
        <Segments
          legend="What to do"
          name="mode"
          value={form.mode}
          choices={MODES}
          onChange={(mode) => session.change({ mode })}
        >
          <p className="policy-explanation note">{MODE_EXPLANATIONS[form.mode]}</p>
        </Segments>
        <LoadFields session={session} />
        <div role="alert">{error && <ErrorLine error={error} />}</div>
        <div className="actions">
          <Button type="submit" variant="primary" disabled={isRunning || !canSend}>
            Start
          </Button>
          <Button disabled={!isRunning} onClick={() => session.stop()}>
            Stop
          </Button>
          <LinkButton session={session} />
        </div>
      </Form>
      <Progress session={session} />
      {results && <LoadResultsView results={results} isRunning={isRunning} />}
    </Panel>
  );
}

function LinkButton({ session }: { readonly session: LoadSession }) {
  const composer = useComposer();
  const [message, setMessage] = useState('');
  const copy = async (): Promise<void> => {
    const { document, followed, texts } = composer.store.getState();
    const load = writeLoadForm(session.store.getState().form);
    const prompt = (followed?.base ?? document).text;
    const link = withPermalink(location.href, { prompt, texts, load });
    history.replaceState(null, '', link);
    try {
      await navigator.clipboard.writeText(link);
      setMessage('Link copied. It opens this scenario.');
    } catch {
      setMessage('The browser blocked copying. Copy the link from the address bar.');
    }
  };
  return (
    <>
      <Button onClick={() => void copy()}>Copy link to scenario</Button>
      <output className="note">{message}</output>
    </>
  );
}

/** Its height is reserved. Screen readers announce only the end. */
function Progress({ session }: { readonly session: LoadSession }) {
  const progress = useStore(session.store, (view) => view.progress);
  const isRunning = useStore(session.store, (view) => view.isRunning);
  const said = useStore(session.store, describeEnd);
  const numOver = progress ? progress.numFinished + progress.numRejected : 0;
  return (
    <div className="load-progress">
      {isRunning && (
        <>
          <progress
            aria-label="Requests of this run that have ended"
            {...(progress?.numToSend !== undefined && { value: numOver, max: progress.numToSend })}
          />
          {progress && (
            <p>
              <strong>{progress.label}</strong>: {formatMs(progress.elapsedMs)},{' '}
              {formatCount(progress.numSent)} sent, {formatCount(progress.numFinished)} finished,{' '}
              {formatCount(progress.numRejected)} rejected, {formatCount(progress.numOutputTokens)} tokens
            </p>
          )}
        </>
      )}
      <output className="visually-hidden">{said}</output>
    </div>
  );
}

function describeEnd({ isRunning, results }: LoadView): string {
  if (isRunning || !results) return '';
  return `The load test is over: ${results.trials.length} runs.`;
}

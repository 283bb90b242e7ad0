import { lazy, Suspense, useId } from 'react';

import { Button } from '../button.tsx';
import { ErrorLine } from '../error-line.tsx';
import { Form } from '../form.tsx';
import { formatCount } from '../format.ts';
import { Panel } from '../panel.tsx';
import { canGenerate } from '../state/can-generate.ts';
import { useServeView } from '../state/serve-context.ts';
import './compose-panel.css';
import { useComposer, useComposerView } from './composer-context.ts';
import { DocumentActions } from './document-actions.tsx';
import { DocumentEditor } from './document-editor.tsx';
import { SAMPLE_PROMPTS } from './sample-prompts.ts';

const LogprobsTable = lazy(async () => ({ default: (await import('./logprobs-table.tsx')).LogprobsTable }));

export function ComposePanel() {
  const composer = useComposer();
  const error = useComposerView((view) => view.error);
  const isActive = useComposerView(({ followed }) => followed?.isActive ?? false);
  const canUndo = useComposerView(({ followed }) => followed !== undefined);
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  const errorId = useId();

  return (
    <Panel title="Playground" className="compose">
      <Form onSubmit={() => composer.send()}>
        <DocumentEditor errorId={error && errorId} />
        <div id={errorId} role="alert">
          {error && <ErrorLine error={error} />}
        </div>
        <ChoiceSwitch />
        <Logprobs />
        <div className="actions">
          <Button type="submit" variant="primary" disabled={!canSend}>
            Send
          </Button>
          <Button disabled={!isActive} onClick={() => composer.cancel()}>
            Cancel
          </Button>
          <Button disabled={!canUndo || !canSend} onClick={() => composer.regenerate()}>
            Regenerate
          </Button>
          <Button disabled={!canUndo} onClick={() => composer.undo()}>
            Undo
          </Button>
        </div>
        <output className="not-serving muted">
          {canSend ? '' : 'No model is running, so nothing can be sent.'}
        </output>
        <FinishedMessage />
      </Form>
      <DocumentActions />
      <Samples />
    </Panel>
  );
}

function Samples() {
  const composer = useComposer();
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  return (
    <div className="samples ruled-off">
      <h3>Examples</h3>
      <ul className="chips">
        {SAMPLE_PROMPTS.map((prompt) => (
          <li key={prompt}>
            <Button className="chip" onClick={() => composer.restore(prompt)}>
              {prompt}
            </Button>
          </li>
        ))}
      </ul>
      <Button disabled={!canSend} onClick={() => composer.sendAll(SAMPLE_PROMPTS)}>
        Send {SAMPLE_PROMPTS.length} sample prompts
      </Button>
    </div>
  );
}

/** Switches the document between several continuations of one prompt. */
function ChoiceSwitch() {
  const composer = useComposer();
  const choice = useComposerView(({ followed }) => followed?.choice ?? 0);
  const numChoices = useComposerView(({ followed }) => followed?.numChoices ?? 1);
  if (numChoices === 1) return null;
  return (
    <fieldset className="choices">
      <legend>Continuation</legend>
      {Array.from({ length: numChoices }, (_, index) => (
        <Button
          key={index}
          className="chip"
          aria-pressed={index === choice}
          onClick={() => composer.showChoice(index)}
        >
          {index + 1}
        </Button>
      ))}
    </fieldset>
  );
}

function Logprobs() {
  const id = useComposerView(({ followed }) => followed?.id);
  const choice = useComposerView(({ followed }) => followed?.choice ?? 0);
  const logprobs = useServeView(({ requests }) => id && requests.get(id)?.logprobs?.[choice]);
  if (!logprobs) return null;
  return (
    <Suspense>
      <LogprobsTable logprobs={logprobs} />
    </Suspense>
  );
}

/** Announced once, at the end: a screen reader doesn't read every token. */
function FinishedMessage() {
  const id = useComposerView(({ followed }) => followed?.id);
  const text = useServeView(({ requests }) => {
    const request = id && requests.get(id);
    if (request?.status !== 'finished') return '';
    return `The text was continued by ${formatCount(request.numOutputTokens)} tokens.`;
  });
  return <output className="visually-hidden">{text}</output>;
}

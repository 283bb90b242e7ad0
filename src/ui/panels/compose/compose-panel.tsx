import { lazy, Suspense, useEffect, useId, useRef } from 'react';

import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Form } from '../../parts/form.tsx';
import { countOf } from '../../parts/format.ts';
import { Popover } from '../../parts/popover.tsx';
import { canGenerate } from '../../state/can-generate.ts';
import { useServeView } from '../../state/serve-context.ts';
import './compose-panel.css';
import { useComposer, useComposerView } from '../../state/composer/composer-context.ts';
import { DocumentEditor } from './document-editor.tsx';
import { LoadNote } from './load-note.tsx';
import { SAMPLE_PROMPTS } from '../../state/composer/sample-prompts.ts';

const ShapedAnswer = lazy(async () => ({
  default: (await import('../shapes/shaped-answer.tsx')).ShapedAnswer,
}));
const DocumentActions = lazy(async () => ({
  default: (await import('./document-actions.tsx')).DocumentActions,
}));
const LinkNote = lazy(async () => ({ default: (await import('./link-note.tsx')).LinkNote }));
const LogprobsTable = lazy(async () => ({ default: (await import('./logprobs-table.tsx')).LogprobsTable }));

export function ComposePanel() {
  const composer = useComposer();
  const error = useComposerView((view) => view.error);
  const noteId = useId();

  return (
    <section className="compose" aria-label="Prompt and actions">
      <Form onSubmit={() => void composer.send()}>
        <DocumentEditor noteId={noteId} />
        <div className="compose-note" id={noteId}>
          <div role="alert">{error && <ErrorLine error={error} />}</div>
          {!error && <LoadNote />}
        </div>
        <Linked />
        <ChoiceSwitch />
        <Shaped />
        <Actions />
        <RunButton />
        <Logprobs />
        <FinishedMessage />
      </Form>
    </section>
  );
}

function Actions() {
  const composer = useComposer();
  const isActive = useComposerView(({ followed }) => followed?.isActive ?? false);
  const canUndo = useComposerView(({ followed }) => followed !== undefined);
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  const sendRef = useRef<HTMLButtonElement>(null);
  const undo = (): void => {
    composer.undo();
    // The button that was pressed goes.
    sendRef.current?.focus();
  };
  return (
    <div className="compose-actions cluster tight spaced">
      {isActive ? (
        <Button className="send-button" onClick={() => composer.cancel()}>
          Stop
        </Button>
      ) : (
        <Button ref={sendRef} className="send-button" type="submit" disabled={!canSend}>
          Send
        </Button>
      )}
      {canUndo && (
        <>
          <Button variant="quiet" disabled={!canSend} onClick={() => composer.regenerate()}>
            Regenerate
          </Button>
          <Button variant="quiet" onClick={undo}>
            Undo
          </Button>
        </>
      )}
      <Examples />
      <Popover label="More">
        <Suspense>
          <DocumentActions />
        </Suspense>
      </Popover>
    </div>
  );
}

/** The page's main action. It has the focus at the start, so that Enter begins. */
function RunButton() {
  const composer = useComposer();
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  const buttonRef = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) buttonRef.current?.focus({ preventScroll: true });
  }, []);
  return (
    <Button
      ref={buttonRef}
      className="button-primary run-button large apart row"
      disabled={!canSend}
      onClick={() => void composer.sendAll(SAMPLE_PROMPTS)}
    >
      Run {SAMPLE_PROMPTS.length} prompts at once <kbd aria-hidden="true">Enter</kbd>
    </Button>
  );
}

function Examples() {
  const composer = useComposer();
  return (
    <Popover label="Examples">
      <ul className="examples">
        {SAMPLE_PROMPTS.map((prompt) => (
          <li key={prompt}>
            <Button variant="quiet" onClick={() => composer.restore(prompt)}>
              {prompt}
            </Button>
          </li>
        ))}
      </ul>
    </Popover>
  );
}

function Linked() {
  const hash = useComposerView((view) => view.linkHash);
  if (hash === '') return null;
  return (
    <Suspense>
      <LinkNote hash={hash} />
    </Suspense>
  );
}

/** Switches the document between several continuations of one prompt. */
function ChoiceSwitch() {
  const composer = useComposer();
  const choice = useComposerView(({ followed }) => followed?.choice ?? 0);
  const numChoices = useComposerView(({ followed }) => followed?.numChoices ?? 1);
  if (numChoices === 1) return null;
  return (
    <fieldset className="choices cluster tight spaced">
      <legend>Continuation</legend>
      {Array.from({ length: numChoices }, (_, index) => (
        <Button
          key={index}
          variant="quiet"
          aria-pressed={index === choice}
          onClick={() => composer.showChoice(index)}
        >
          {index + 1}
        </Button>
      ))}
    </fieldset>
  );
}

function Shaped() {
  const id = useComposerView(({ followed }) => followed?.id);
  const choice = useComposerView(({ followed }) => followed?.choice ?? 0);
  const shape = useComposerView(({ followed }) => followed?.texts.responseFormat);
  const text = useServeView(
    ({ requests }) => (shape && id && requests.get(id)?.generatedTexts[choice]) ?? '',
  );
  const probabilities = useServeView(({ requests }) =>
    id ? requests.get(id)?.choiceProbabilities : undefined,
  );
  if (!shape) return null;
  return (
    <Suspense>
      <ShapedAnswer shape={shape} text={text} probabilities={probabilities} canCopy />
    </Suspense>
  );
}

function Logprobs() {
  const id = useComposerView(({ followed }) => followed?.id);
  const choice = useComposerView(({ followed }) => followed?.choice ?? 0);
  // Choices have logprobs also where nobody has typed a number.
  const isAsked = useComposerView(({ followed }) => Boolean(followed?.texts.logprobs));
  const logprobs = useServeView(({ requests }) => id && requests.get(id)?.logprobs?.[choice]);
  if (!logprobs || !isAsked) return null;
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
    const { length } = request.generatedTexts;
    const tokens = countOf(request.numOutputTokens, 'token');
    return length > 1
      ? `${length} continuations have ${tokens} together.`
      : `The text was continued by ${tokens}.`;
  });
  return <output className="visually-hidden">{text}</output>;
}

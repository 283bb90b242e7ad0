import { useRef, type ChangeEvent, type ClipboardEvent, type DragEvent } from 'react';

import { EMBEDDER, MAX_TEXTS } from '../../../client/index.ts';
import { BACKENDS } from '../../panels/header/describe-state.ts';
import { shortName } from '../../panels/header/chip-text.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { TextAreaField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { formatCount } from '../../parts/format.ts';
import { Panel } from '../../parts/panel.tsx';
import { useAttempt } from '../../parts/use-attempt.ts';
import { describeEmbedding, describeLines } from './describe-embedding.ts';
import { useEmbedRoom, useEmbedView, useEncoder } from './embed-context.ts';
import { SAMPLE_LINES } from './sample-lines.ts';

/** Characters. Chromium takes many seconds to insert thousands of lines by itself. */
const LARGE_PASTE = 20_000;

/** The lines to embed: typed, pasted, dropped, or of a file. */
export function LinesPanel({ onCompare }: { readonly onCompare: () => void }) {
  const room = useEmbedRoom();
  const text = useEmbedView((view) => view.text);
  const isRunning = useEmbedView(({ progress }) => progress !== undefined);
  const canCompare = useEmbedView(({ embedded }) => embedded !== undefined) && !isRunning;
  const encoder = useEncoder(EMBEDDER);
  const error = useEmbedView((view) => view.error);
  const { refusal = error, attempt } = useAttempt();

  const read = (file: File | undefined): void => {
    if (file) void attempt(() => room.open(file));
  };
  const drop = (event: DragEvent): void => {
    const [file] = event.dataTransfer.files;
    if (!file) return;
    event.preventDefault();
    read(file);
  };
  const paste = (event: ClipboardEvent<HTMLTextAreaElement>): void => {
    const pasted = event.clipboardData.getData('text');
    if (pasted.length < LARGE_PASTE) return;
    event.preventDefault();
    const { value, selectionStart, selectionEnd } = event.currentTarget;
    room.setText(value.slice(0, selectionStart) + pasted + value.slice(selectionEnd));
  };
  const embedSample = (): void => {
    room.setText(SAMPLE_LINES.join('\n'));
    void room.embed();
  };
  const place = encoder && `${BACKENDS[encoder.backend.name].title} ${encoder.backend.precision}`;

  return (
    <Panel
      title="Lines"
      head={encoder && <span className="note">{`${shortName(encoder.id)} · ${place}`}</span>}
    >
      <Form onSubmit={() => void room.embed()}>
        <div onDrop={drop} onDragOver={(event) => event.preventDefault()}>
          <TextAreaField
            label="One text a line"
            hint={`Paste or drop up to ${formatCount(MAX_TEXTS)} lines. They stay in this browser.`}
            rows={8}
            value={text}
            onChange={(event) => room.setText(event.target.value)}
            onPaste={paste}
          />
        </div>
        <div className="actions">
          {isRunning ? (
            <Button onClick={() => room.stop()}>Stop</Button>
          ) : (
            <Button type="submit" variant="primary" disabled={text.trim() === ''}>
              Embed
            </Button>
          )}
          <Button onClick={embedSample} disabled={isRunning}>
            Embed {SAMPLE_LINES.length} sample lines
          </Button>
          <FileButton onPick={read} />
          <Button variant="quiet" disabled={!canCompare} onClick={onCompare}>
            Compare
          </Button>
        </div>
        <div role="alert">{refusal && <ErrorLine error={refusal} />}</div>
        <Progress />
      </Form>
    </Panel>
  );
}

/** Its place is reserved, so that nothing below moves. */
function Progress() {
  const text = useEmbedView((view) => view.text);
  const progress = useEmbedView((view) => view.progress);
  const embedded = useEmbedView((view) => view.embedded);
  const line = progress ? describeEmbedding(progress) : describeLines(text, embedded);
  return (
    <div className="embed-progress spaced">
      <output className="note" data-testid="embed-progress">
        {line}
      </output>
      {progress && <progress aria-label="Embedding" value={progress.numDone} max={progress.numTexts} />}
    </div>
  );
}

function FileButton({ onPick }: { readonly onPick: (file: File | undefined) => void }) {
  const inputRef = useRef<HTMLInputElement>(null);
  const pick = ({ target }: ChangeEvent<HTMLInputElement>): void => {
    onPick(target.files?.[0]);
    // Lets the same file be picked again.
    target.value = '';
  };
  return (
    <>
      <Button variant="quiet" onClick={() => inputRef.current?.click()}>
        Open a file…
      </Button>
      <input
        ref={inputRef}
        type="file"
        accept=".txt,.csv,.tsv,.md,text/*"
        hidden
        onChange={pick}
        aria-label="File of lines"
      />
    </>
  );
}

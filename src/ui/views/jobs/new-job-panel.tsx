import { useRef, useState } from 'react';
import { columnsIn, missingColumn, type Job } from '../../../client/index.ts';
import { AdvancedPanel } from '../../panels/compose/advanced-panel.tsx';
import { LinkNote } from '../../panels/compose/link-note.tsx';
import { openModelBox } from '../../panels/models/open-model-box.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { TextAreaField } from '../../parts/field.tsx';
import { formatCount } from '../../parts/format.ts';
import { Segments } from '../../parts/segments.tsx';
import { reachOfLink } from '../../parts/reach-of-link.ts';
import { useCopy } from '../../parts/use-copy.ts';
import { ShapeField } from '../../panels/shapes/shape-field.tsx';
import { readPermalink } from '../../state/permalink.ts';
import { useIsServer, useServeView } from '../../state/serve-context.ts';
import { FileField } from './file-field.tsx';
import { useFormView, useJobForm } from './job-form-context.ts';
import { JOB_DEFAULTS, JOB_FIELDS } from './job-form.ts';
import { READY_TEMPLATES } from './ready-templates.ts';

const TASKS = [
  ['generate', 'Generate'],
  ['embed', 'Embed'],
] as const;

interface NewJobPanelProps {
  readonly onChosen: () => void;
  readonly onCreated: (job: Job) => void;
}

/** A file, and what to do with each of its rows. */
export function NewJobPanel({ onChosen, onCreated }: NewJobPanelProps) {
  const form = useJobForm();
  const isBatch = useFormView(({ file }) => file?.isBatch ?? false);
  const task = useFormView((view) => view.task);
  const isServer = useIsServer();
  return (
    <section className="new-job stack" aria-labelledby="new-job-title">
      <h2 id="new-job-title">New job</h2>
      <FileField onChosen={onChosen} />
      {isBatch ? (
        <p className="note">Each line is a request with its own prompt and options.</p>
      ) : (
        <>
          {!isServer && (
            <Segments
              legend="What to do with each row"
              name="job-task"
              value={task}
              choices={TASKS}
              onChange={(next) => form.change({ task: next })}
            />
          )}
          {task === 'generate' && <ReadyTemplates />}
          <TemplateField />
          {task === 'generate' ? <GenerationFields /> : <EmbedNote />}
        </>
      )}
      <RunButton onCreated={onCreated} />
      {!isBatch && <LinkButton />}
    </section>
  );
}

/** Copies a link; and what of the one that was opened this page can’t do. */
function LinkButton() {
  const form = useJobForm();
  const { said, copy } = useCopy();
  const [hash] = useState(() => (readPermalink(location.hash).template === undefined ? '' : location.hash));
  const copyLink = (): void =>
    void copy(
      form.linkFrom(location.href),
      `Link copied. It brings back prompts, options and model, not the file.${reachOfLink()}`,
    );
  return (
    <div className="actions">
      {hash !== '' && <LinkNote hash={hash} />}
      <Button variant="quiet" onClick={copyLink}>
        Copy link
      </Button>
      <output className="note">{said}</output>
    </div>
  );
}

function ReadyTemplates() {
  const form = useJobForm();
  return (
    <div className="row">
      <span className="note">Templates:</span>
      {READY_TEMPLATES.map((ready) => (
        <Button key={ready.title} variant="small" onClick={() => form.take(ready)}>
          {ready.title}
        </Button>
      ))}
    </div>
  );
}

function TemplateField() {
  const form = useJobForm();
  const areaRef = useRef<HTMLTextAreaElement>(null);
  const template = useFormView((view) => view.template);
  const columns = useFormView(({ file }) => file?.columns);
  const missing = columns && missingColumn(template, columns);
  const needed = columns ? [] : columnsIn(template);
  const insert = (column: string): void => {
    const area = areaRef.current;
    if (!area) return;
    area.focus();
    area.setRangeText(`{{${column}}}`, area.selectionStart, area.selectionEnd, 'end');
    form.change({ template: area.value });
  };
  return (
    <div className="stack">
      <TextAreaField
        ref={areaRef}
        label="Prompt for each row"
        hint={`{{column}} stands for the row’s text.${needed.length > 0 ? ` Choose a file that has ${needed.map((name) => `“${name}”`).join(', ')}.` : ''}`}
        error={missing === undefined ? undefined : `The file has no column “${missing}”.`}
        rows={5}
        value={template}
        onChange={({ target }) => form.change({ template: target.value })}
      />
      {columns && (
        <fieldset className="columns cluster tight">
          <legend className="visually-hidden">Insert a column</legend>
          {columns.map((column) => (
            <Button key={column} variant="quiet" onClick={() => insert(column)}>
              {`{{${column}}}`}
            </Button>
          ))}
        </fieldset>
      )}
    </div>
  );
}

function GenerationFields() {
  const form = useJobForm();
  const system = useFormView((view) => view.system);
  const shape = useFormView(({ texts }) => texts.responseFormat ?? '');
  const shapeError = useFormView(({ optionErrors }) => optionErrors.responseFormat);
  const chats = useServeView(({ status }) => status.model?.hasChatTemplate);
  // The field stays while a model loads.
  const [canChat, setCanChat] = useState(chats ?? false);
  if (chats !== undefined && chats !== canChat) setCanChat(chats);
  return (
    <>
      {canChat && (
        <TextAreaField
          label="System prompt"
          hint="How the model should answer each row. It takes {{column}}, too."
          rows={2}
          value={system}
          onChange={({ target }) => form.change({ system: target.value })}
        />
      )}
      <ShapeField
        label="Answer"
        hint="The properties of a schema become columns."
        error={shapeError}
        value={shape}
        onChange={(text) => form.changeOption('responseFormat', text)}
        onBlur={() => form.checkOptions()}
      />
      <AdvancedPanel form={form} fields={JOB_FIELDS} defaults={JOB_DEFAULTS} />
    </>
  );
}

/** Which model makes the vectors, or how to get one. */
function EmbedNote() {
  const embedder = useServeView(
    ({ status }) => status.encoders?.find(({ deployment }) => deployment === 'embedder')?.id,
  );
  return embedder === undefined ? (
    <p className="note">
      No embedding model is loaded.{' '}
      <Button variant="quiet" onClick={openModelBox}>
        Choose a model…
      </Button>
    </p>
  ) : (
    <p className="note">{embedder} makes a vector for each row.</p>
  );
}

function RunButton({ onCreated }: Pick<NewJobPanelProps, 'onCreated'>) {
  const form = useJobForm();
  const hasFile = useFormView(({ file }) => file !== undefined);
  const error = useFormView((view) => view.error);
  const numStored = useFormView((view) => view.numStored);
  const run = async (): Promise<void> => {
    const job = await form.run();
    if (job) onCreated(job);
  };
  return (
    <>
      <div role="alert">{error && <ErrorLine error={error} />}</div>
      {numStored === undefined ? (
        <Button className="button-primary job-run large" disabled={!hasFile} onClick={() => void run()}>
          Run all rows
        </Button>
      ) : (
        <div className="row">
          <output>Storing the rows: {formatCount(numStored)} so far</output>
          <Button variant="small" onClick={() => form.stop()}>
            Stop
          </Button>
        </div>
      )}
    </>
  );
}

import { useState } from 'react';

import {
  fillTemplate,
  readCells,
  textOfCell,
  type ChatMessage,
  type GenerationResult,
  type JobCells,
  type WireError,
} from '../../../client/index.ts';
import { Button } from '../../parts/button.tsx';
import { ErrorLine } from '../../parts/error-line.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ScrollBox } from '../../parts/scroll-box.tsx';
import { TableHead } from '../../parts/table-head.tsx';
import { toWireError } from '../../parts/to-wire-error.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { useServe, useServeView } from '../../state/serve-context.ts';
import { describeEstimate, rowsTogether, type TriedRows } from './describe-job.ts';
import { useFormView, useJobForm } from './job-form-context.ts';
import { MAX_SHOWN_COLUMNS } from './row-columns.ts';

const NUM_ROWS = 3;
/** A cell of the table is one line. */
const MAX_CELL_LENGTH = 200;

type Answer = { readonly text: string } | { readonly error: WireError } | 'waits';

type Usage = Pick<GenerationResult['usage'], 'numPromptTokens' | 'numOutputTokens'>;

interface Tried {
  readonly answers: readonly Answer[];
  /** Set once each row has an answer. */
  readonly took?: TriedRows | undefined;
}

const NOTHING_TRIED: Tried = { answers: [] };

/** The prompts of the first rows and, on demand, their answers. */
export function PreviewPanel() {
  const form = useJobForm();
  const { serve } = useServe();
  const { file, task, template, system, texts } = useFormView((view) => view);
  const canChat = useServeView(({ status }) => status.model?.hasChatTemplate ?? false);
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  // Answers are of what was asked: any change of it takes them away.
  const asked = [file, template, system, texts] as const;
  const [tried, setTried] = useState<{ readonly asked: typeof asked } & Tried>();
  const isAsked = (other: typeof asked): boolean => other.every((part, at) => part === asked[at]);
  const { answers, took } = tried && isAsked(tried.asked) ? tried : NOTHING_TRIED;
  const records = file && !file.isBatch ? file.head.slice(0, NUM_ROWS) : [];

  const change = (next: (current: Tried) => Tried): void =>
    setTried((current) => ({ asked, ...next(current && isAsked(current.asked) ? current : NOTHING_TRIED) }));
  /** Returns what it took; undefined where there is no answer. */
  const tryRow = async (record: string, index: number): Promise<Usage | undefined> => {
    const options = form.readOptions();
    if (!options) return undefined;
    const show = (answer: Answer): void =>
      change((current) => ({ ...current, answers: withItem(current.answers, index, answer) }));
    show('waits');
    const { seed } = options;
    try {
      const content = fillTemplate(template, record);
      const chat: ChatMessage[] = [{ role: 'user', content }];
      if (form.system !== undefined)
        chat.unshift({ role: 'system', content: fillTemplate(form.system, record) });
      const { generatedText, usage } = await serve.generate(canChat ? chat : content, {
        ...options,
        ...(seed !== undefined && { seed: seed + index }),
      });
      show({ text: generatedText });
      return usage;
    } catch (caught) {
      show({ error: toWireError(caught) });
      return undefined;
    }
  };
  const tryAll = async (): Promise<void> => {
    change(() => NOTHING_TRIED);
    const startedAtMs = performance.now();
    const usages = (await Promise.all(records.map(tryRow))).filter((usage) => usage !== undefined);
    const durationMs = performance.now() - startedAtMs;
    if (usages.length === records.length)
      change((current) => ({ ...current, took: sumOf(usages, durationMs) }));
  };

  if (!file) return null;
  return (
    <Panel
      title="The first rows"
      className="preview"
      head={
        records.length > 0 &&
        task === 'generate' && (
          <Button variant="small" disabled={!canSend} onClick={() => void tryAll()}>
            {records.length === 1 ? 'Try this row' : `Try these ${records.length} rows`}
          </Button>
        )
      }
    >
      {!file.isBatch && <FirstRows columns={file.columns.slice(0, MAX_SHOWN_COLUMNS)} records={records} />}
      <output className="note">{took && <Estimate took={took} />}</output>
      <ol className="stack">
        {file.isBatch
          ? file.head.slice(0, NUM_ROWS).map((line, index) => (
              <li key={index} className="preview-row given-text">
                <p>{cut(line)}</p>
              </li>
            ))
          : records.map((record, index) => (
              <li key={index} className="preview-row given-text">
                <p>
                  {cut(promptOf(template, record))}
                  <PreviewAnswer answer={answers[index]} />
                </p>
                <PreviewError answer={answers[index]} />
              </li>
            ))}
      </ol>
    </Panel>
  );
}

function sumOf(usages: readonly Usage[], durationMs: number): TriedRows {
  const sum = (name: keyof Usage): number => usages.reduce((total, usage) => total + usage[name], 0);
  const tokens = { numPromptTokens: sum('numPromptTokens'), numOutputTokens: sum('numOutputTokens') };
  return { numRows: usages.length, durationMs, ...tokens };
}

function withItem<Item>(items: readonly Item[], index: number, item: Item): readonly Item[] {
  const changed = [...items];
  changed[index] = item;
  return changed;
}

/** Once all rows are counted, and there are more than those that were tried. */
function Estimate({ took }: { readonly took: TriedRows }) {
  const { numRows, isCounting } = useFormView((view) => view);
  const numTogether = useServeView(({ status }) => rowsTogether(status, location.href));
  if (isCounting || numRows <= took.numRows) return null;
  return describeEstimate(took, numRows, numTogether);
}

/** What was read of the file. */
function FirstRows({ columns, records }: { columns: readonly string[]; records: readonly string[] }) {
  return (
    <ScrollBox label="The first rows of the file" className="preview-rows">
      <table className="scroll-table">
        <TableHead titles={columns} />
        <tbody>
          {records.map((record, index) => (
            <Cells key={index} columns={columns} cells={readCells(record)} />
          ))}
        </tbody>
      </table>
    </ScrollBox>
  );
}

function Cells({ columns, cells }: { columns: readonly string[]; cells: JobCells | undefined }) {
  return (
    <tr>
      {columns.map((column) => {
        const cell = cells?.get(column);
        return <td key={column}>{cell === undefined ? '' : textOfCell(cell).slice(0, MAX_CELL_LENGTH)}</td>;
      })}
    </tr>
  );
}

function PreviewAnswer({ answer }: { readonly answer: Answer | undefined }) {
  if (!answer || (typeof answer === 'object' && 'error' in answer)) return null;
  return <mark>{answer === 'waits' ? ' …' : answer.text}</mark>;
}

function PreviewError({ answer }: { readonly answer: Answer | undefined }) {
  return typeof answer === 'object' && 'error' in answer && <ErrorLine error={answer.error} />;
}

/** As it is written where it names a column that the row lacks: its field says so. */
function promptOf(template: string, record: string): string {
  try {
    return fillTemplate(template, record);
  } catch {
    return template;
  }
}

/** A cell may hold megabytes. */
function cut(text: string): string {
  return text.length > 2000 ? `${text.slice(0, 2000)}…` : text;
}

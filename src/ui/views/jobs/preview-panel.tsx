import { useState } from 'react';

import {
  fillTemplate,
  readCells,
  textOfCell,
  type ChatMessage,
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
import { useFormView, useJobForm } from './job-form-context.ts';
import { MAX_SHOWN_COLUMNS } from './row-columns.ts';

const NUM_ROWS = 3;
/** A cell of the table is one line. */
const MAX_CELL_LENGTH = 200;

type Answer = { readonly text: string } | { readonly error: WireError } | 'waits';

/** The prompts of the first rows and, on demand, their answers. */
export function PreviewPanel() {
  const form = useJobForm();
  const { serve } = useServe();
  const { file, task, template, system, texts } = useFormView((view) => view);
  const canChat = useServeView(({ status }) => status.model?.hasChatTemplate ?? false);
  const canSend = useServeView(({ status }) => canGenerate(status.state));
  // Answers are of what was asked: any change of it takes them away.
  const asked = [file, template, system, texts] as const;
  const [tried, setTried] = useState<{ readonly asked: typeof asked; readonly answers: readonly Answer[] }>();
  const answers = tried?.asked.every((part, at) => part === asked[at]) ? tried.answers : [];
  const records = file && !file.isBatch ? file.head.slice(0, NUM_ROWS) : [];

  const tryRow = async (record: string, index: number): Promise<void> => {
    const options = form.readOptions();
    if (!options) return;
    const show = (answer: Answer): void =>
      setTried((current) => {
        const isSame = current?.asked.every((part, at) => part === asked[at]) ?? false;
        const shown = isSame ? [...(current?.answers ?? [])] : [];
        shown[index] = answer;
        return { asked, answers: shown };
      });
    show('waits');
    const { seed } = options;
    try {
      const content = fillTemplate(template, record);
      const chat: ChatMessage[] = [{ role: 'user', content }];
      if (form.system !== undefined)
        chat.unshift({ role: 'system', content: fillTemplate(form.system, record) });
      const { generatedText } = await serve.generate(canChat ? chat : content, {
        ...options,
        ...(seed !== undefined && { seed: seed + index }),
      });
      show({ text: generatedText });
    } catch (caught) {
      show({ error: toWireError(caught) });
    }
  };

  if (!file) return null;
  return (
    <Panel
      title="The first rows"
      className="preview"
      head={
        records.length > 0 &&
        task === 'generate' && (
          <Button
            variant="small"
            disabled={!canSend}
            onClick={() => void Promise.all(records.map((record, index) => tryRow(record, index)))}
          >
            {records.length === 1 ? 'Try this row' : `Try these ${records.length} rows`}
          </Button>
        )
      }
    >
      {!file.isBatch && <FirstRows columns={file.columns.slice(0, MAX_SHOWN_COLUMNS)} records={records} />}
      <ol className="stack">
        {file.isBatch
          ? file.head.slice(0, NUM_ROWS).map((line, index) => (
              <li key={index} className="preview-row">
                <p>{cut(line)}</p>
              </li>
            ))
          : records.map((record, index) => (
              <li key={index} className="preview-row">
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

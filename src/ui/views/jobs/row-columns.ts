import { readCells, textOfCell, type JobCells, type JobInfo, type JobRow } from '../../../client/index.ts';
import { UNREADABLE } from './files/file-row.ts';
import { isRecord } from './files/is-record.ts';

const PROBABILITY = 'Probability';

export interface RowColumn {
  readonly title: string;
  readonly isAnswer: boolean;
  readonly textOf: (row: JobRow) => string;
}

/** More cells would make scrolling slow. A row that is opened has all of them. */
export const MAX_SHOWN_COLUMNS = 40;

/** The file's columns, then the answer: with a JSON Schema, a column for each of its properties. */
export function columnsOf(info: Pick<JobInfo, 'columns' | 'source' | 'options'>): readonly RowColumn[] {
  const inputs =
    info.source === 'requests' ? ['custom_id', 'body'] : info.columns.slice(0, MAX_SHOWN_COLUMNS);
  const properties = propertiesOf(info.options['responseFormat']);
  const choices =
    info.options['logprobs'] === undefined ? undefined : choicesOf(info.options['responseFormat']);
  const answers = properties.map((title, at) => ({
    title,
    isAnswer: true,
    // The last one has room for the reason where there is no answer.
    textOf: (row: JobRow) =>
      row.result?.error && at === properties.length - 1
        ? answerOf(row)
        : toText(cellsOf(row.result?.text).get(title)),
  }));
  return [
    ...inputs.map((title) => ({
      title,
      isAnswer: false,
      textOf: ({ json }: JobRow) => toText(cellsOf(json).get(title)),
    })),
    ...(answers.length > 0 ? answers : [{ title: 'Answer', isAnswer: true, textOf: answerOf }]),
    ...(choices ? [{ title: PROBABILITY, isAnswer: true, textOf: probabilityIn(choices) }] : []),
  ];
}

/** In rem. A wide window has room for more, which the columns share. */
const LEAST_WIDTH = 4;
const MOST_WIDTH = 12;
const ANSWER_WIDTH = 9;
const CHARACTER_WIDTH = 0.55;

/** As wide as titles and these rows need, in rem; an answer has room from the start. */
export function widthsOf(columns: readonly RowColumn[], rows: readonly JobRow[]): readonly number[] {
  const lengths = [
    columns.map(({ title }) => title.length),
    ...rows.map((row) => columns.map(({ textOf }) => textOf(row).length)),
  ];
  return columns.map(({ title, isAnswer }, at) => {
    const needed = 1 + Math.max(...lengths.map((each) => each[at] ?? 0)) * CHARACTER_WIDTH;
    const least = isAnswer && title !== PROBABILITY ? ANSWER_WIDTH : LEAST_WIDTH;
    return Math.min(MOST_WIDTH, Math.max(least, needed));
  });
}

/** Why a row of the file couldn't be read; undefined for one that could. */
export function unreadableReason({ json }: JobRow): string | undefined {
  const [[column = '', cell] = []] = cellsOf(json);
  return column.startsWith(UNREADABLE) ? toText(cell) : undefined;
}

/** The row's answer, or why it has none. */
export function answerOf(row: JobRow): string {
  const { result } = row;
  if (!result) return '';
  if (result.error) return unreadableReason(row) ?? `${result.error.message} ${result.error.code}`;
  if (!result.embedding) return result.text ?? '';
  const start = result.embedding.slice(0, 4).map((value) => value.toFixed(3));
  return `${result.embedding.length} numbers: ${start.join(', ')}, …`;
}

/** How likely the row's answer is among the choices; empty where that isn't known. */
const probabilityIn =
  (choices: readonly string[]) =>
  ({ result }: JobRow): string =>
    result?.choiceProbabilities?.[choices.indexOf(result.text ?? '')]?.toFixed(3) ?? '';

/** The texts that an answer may be; undefined for a response format of another kind. */
export function choicesOf(format: unknown): readonly string[] | undefined {
  const choices: unknown = isRecord(format) ? format['choices'] : undefined;
  return Array.isArray(choices) ? choices.map(String) : undefined;
}

/** The properties that the schema of a response format names. */
function propertiesOf(format: unknown): readonly string[] {
  if (!isRecord(format) || !isRecord(format['schema'])) return [];
  const { properties } = format['schema'];
  return isRecord(properties) ? Object.keys(properties) : [];
}

const NO_CELLS: JobCells = new Map();

/** The cells of the text that was read last: the columns of a row are drawn one after another. */
let latest: { readonly json: string; readonly cells: JobCells } = { json: '', cells: NO_CELLS };

/** Empty if the answer was cut off. */
function cellsOf(json = ''): JobCells {
  if (latest.json !== json) latest = { json, cells: readCells(json) ?? NO_CELLS };
  return latest.cells;
}

function toText(cell: string | undefined): string {
  return cell === undefined ? '' : textOfCell(cell);
}

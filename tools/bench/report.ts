import { machineText } from './conditions.ts';
import { markdownTable } from './markdown-table.ts';
import type { BenchRecord, Column, RecordedGroup, RecordedRow } from './record.ts';
import type { Figure } from './statistics.ts';

/** A run as Markdown, which a terminal shows as well: its conditions, then a table for each group. */
export function reportOf(record: BenchRecord): string {
  return [conditionsOf(record), ...record.groups.map(groupReportOf)].join('\n\n');
}

function conditionsOf(record: BenchRecord): string {
  const { model, adapter, browser, versions, startedAt, rounds, note, command } = record;
  const subject = [model, adapter].filter(Boolean).join(' on ');
  const parts = [subject, browser, machineText(record), versions, startedAt.slice(0, 10)].filter(Boolean);
  const times = rounds === 1 ? 'One round' : `${rounds} interleaved rounds`;
  return `${parts.join('; ')}. ${times}. ${note} \`${command}\``;
}

function groupReportOf({ caption, labels, columns, ratio, rows }: RecordedGroup): string {
  const heads = [
    ...labels,
    ...columns.map(({ name, shows }) => (shows === 'p50 / p95' ? `${name} p50 / p95` : name)),
    ...(ratio === undefined ? [] : [ratio]),
  ];
  const cells = rows.map((row) => cellsOf(row, columns, ratio !== undefined));
  return [`${caption}:`, '', ...markdownTable(heads, cells)].join('\n');
}

function cellsOf(
  { labels, missing, figures, ratio }: RecordedRow,
  columns: readonly Column[],
  hasRatio: boolean,
) {
  const values = columns.map((column, index) =>
    missing !== undefined && index === 0 ? missing : figureText(figures[column.name], column),
  );
  return [...labels, ...values, ...(hasRatio ? [ratioText(ratio)] : [])];
}

/** What a column is stored in, over what it is written in. */
const SCALES = { ms: 1, s: 1000, '%': 0.01, MB: 1e6 } as const;

export function figureText(figure: Figure | undefined, { shows, unit, digits }: Column): string {
  if (!figure) return '';
  const scale = unit === undefined ? 1 : SCALES[unit];
  const values = shows === 'p50 / p95' ? [figure.p50, figure.p95] : [figure[shows]];
  const known = values.filter((value) => value !== undefined);
  const text = known.map((value) => (value / scale).toFixed(digits)).join(' / ');
  return text === '' || unit === undefined ? text : `${text} ${unit}`;
}

function ratioText(ratio: Figure | undefined): string {
  if (ratio?.p50 === undefined) return '';
  const [median, ...range] = [ratio.p50, ratio.min, ratio.max].map((value) => value?.toFixed(2));
  return ratio.count > 1 && range[0] !== undefined ? `${median}× (${range.join(' to ')})` : `${median}×`;
}

import type { Group, Samples, Subject } from './bench-case.ts';
import type { RecordedGroup, RecordedRow } from './record.ts';
import { figureOf, medianOf } from './statistics.ts';
import { UsageError } from './usage-error.ts';

interface Measured {
  readonly subject: Subject;
  readonly rounds: Samples[];
  missing?: string | undefined;
}

/**
 * Measures all subjects in each round, so that disturbances of the machine affect all alike, and begins each round with another
 * subject.
 */
export async function measureGroups(
  groups: readonly Group[],
  numRounds: number,
): Promise<readonly RecordedGroup[]> {
  const measured = groups.map((group) => ({
    group,
    rows: group.subjects.map((subject): Measured => ({ subject, rounds: [], missing: subject.leftOut })),
  }));
  for (const { rows } of measured)
    for (const row of rows) await attempt(row, async ({ warmUp }) => void (await warmUp?.()));
  for (let round = 0; round < numRounds; round++) {
    for (const { group, rows } of measured) {
      const turn = round % Math.max(1, rows.length);
      for (const row of [...rows.slice(turn), ...rows.slice(0, turn)]) {
        await attempt(row, async (subject) => void row.rounds.push(await subject.measure()));
        console.log(`round ${round + 1}: ${group.caption}: ${progressOf(row, group)}`);
      }
    }
  }
  return measured.map(({ group, rows }) => summarize(group, rows));
}

/** The groups of the rows whose caption or labels contain the text. */
export function only(groups: readonly Group[], text: string | undefined): readonly Group[] {
  if (text === undefined) return groups;
  const some = groups.flatMap(({ ratio, ...group }): readonly Group[] => {
    const subjects = group.subjects.filter(({ labels }) =>
      [group.caption, ...labels].join(' ').includes(text),
    );
    const [first] = subjects;
    if (!first) return [];
    // The others are compared with the group's first one.
    const hasBase = first.base !== undefined || first === group.subjects[0];
    return [{ ...group, ...(ratio && hasBase && { ratio }), subjects }];
  });
  if (some.length > 0) return some;
  const rows = groups.flatMap(({ caption, subjects }) => subjects.map(({ labels }) => [caption, ...labels]));
  const names = rows.map((row) => `\n  ${row.join(' ')}`);
  throw new UsageError(`No row contains “${text}”. The rows are:${names.join('')}`);
}

/** Does nothing if the subject has failed before or is left out. */
async function attempt(row: Measured, run: (subject: Subject) => Promise<void>): Promise<void> {
  if (row.missing !== undefined) return;
  try {
    await run(row.subject);
  } catch (error) {
    if (!row.subject.mayFail) throw error;
    row.missing = `failed: ${firstLineOf(error)}`;
  }
}

export function firstLineOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/^page\.evaluate: /, '').split('\n')[0] ?? '';
}

function progressOf({ subject, rounds, missing }: Measured, { columns: [column] }: Group): string {
  const value = column && valuesOf(rounds.at(-1), column.name);
  const figure = value && column ? `${medianOf(value).toPrecision(4)} ${column.name}` : '';
  return `${subject.labels.join(', ')}: ${missing ?? figure}`;
}

function summarize(group: Group, rows: readonly Measured[]): RecordedGroup {
  const { caption, labels, columns, ratio } = group;
  return {
    caption,
    labels,
    columns,
    ...(ratio && { ratio: ratio.header }),
    rows: rows.map((row) => rowOf(group, row, rows)),
  };
}

function rowOf(group: Group, { subject, rounds, missing }: Measured, rows: readonly Measured[]): RecordedRow {
  const { labels } = subject;
  if (missing !== undefined) return { labels, missing, figures: {} };
  const figures = group.columns.flatMap(({ name }) => {
    const values = rounds.flatMap((samples) => valuesOf(samples, name) ?? []);
    return values.length > 0 ? [[name, figureOf(values)] as const] : [];
  });
  const ratios = ratiosOf(
    group,
    rounds,
    rows.find((row) => row.subject === (subject.base ?? group.subjects[0])),
  );
  return {
    labels,
    figures: Object.fromEntries(figures),
    ...(ratios.length > 0 && { ratio: figureOf(ratios) }),
  };
}

/** Round by round; none for the base itself. */
function ratiosOf({ ratio }: Group, own: readonly Samples[], base: Measured | undefined): readonly number[] {
  if (!ratio || !base || base.rounds === own) return [];
  return own.flatMap((samples, round) => {
    const [mine, other] = [samples, base.rounds[round]].map((each) => valuesOf(each, ratio.column));
    if (!mine || !other) return [];
    const quotient = medianOf(mine) / medianOf(other);
    return ratio.isBaseOver ? 1 / quotient : quotient;
  });
}

function valuesOf(samples: Samples | undefined, column: string): readonly number[] | undefined {
  const value = samples?.[column];
  return typeof value === 'number' ? [value] : value;
}

import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';

import { parseJson } from '../../src/platform/parse-json.ts';
import type { Conditions } from './conditions.ts';
import { pathOf } from '../paths.ts';
import type { Figure } from './statistics.ts';
import { UsageError } from './usage-error.ts';

export interface BenchRecord extends Conditions {
  /** A run replaces the record of its key. */
  readonly key: string;
  readonly rounds: number;
  readonly model?: string;
  readonly adapter?: string;
  readonly versions?: string;
  readonly note: string;
  readonly groups: readonly RecordedGroup[];
}

export interface RecordedGroup {
  readonly caption: string;
  readonly labels: readonly string[];
  readonly columns: readonly Column[];
  /** Heading of the column of ratios. */
  readonly ratio?: string;
  readonly rows: readonly RecordedRow[];
}

export interface Column {
  readonly name: string;
  /** Written behind the number; none if the name says it. */
  readonly unit?: 'ms' | 's' | '%' | 'MB';
  readonly digits: number;
  /** What of the figure is written. A percentage is stored as a share, a size in bytes, a time in ms. */
  readonly shows: 'p50' | 'p50 / p95' | 'mean' | 'min' | 'max';
}

export interface RecordedRow {
  readonly labels: readonly string[];
  readonly missing?: string;
  readonly figures: Readonly<Record<string, Figure>>;
  /** Over the rounds, each compared in itself. */
  readonly ratio?: Figure;
}

const GROUP = v.object({ columns: v.array(v.unknown()), rows: v.array(v.unknown()) });
const RECORD = v.object({ key: v.string(), groups: v.array(GROUP) });
/** Of `bench/CASE.json`. The version is raised when a field changes its meaning. */
const RECORDS = v.object({
  schemaVersion: v.literal(6),
  records: v.array(v.custom<BenchRecord>((record) => v.is(RECORD, record))),
});

export function readRecords(name: string): readonly BenchRecord[] {
  const path = pathOfRecords(name);
  if (!existsSync(path)) return [];
  const { success, output } = v.safeParse(RECORDS, parseJson(readFileSync(path, 'utf8')));
  if (success) return output.records;
  throw new UsageError(
    `bench/${name}.json is damaged. Run \`git restore bench/${name}.json\`, or delete it and run \`npm run bench -- ${name}\`.`,
  );
}

/** Replaces the record of its key and keeps the others. Returns the file's path. */
export async function writeRecord(name: string, record: BenchRecord): Promise<string> {
  const others = readRecords(name).filter(({ key }) => key !== record.key);
  const records = [...others, record].toSorted((a, b) => a.key.localeCompare(b.key));
  const path = pathOfRecords(name);
  await mkdir(dirname(path), { recursive: true });
  const file: v.InferOutput<typeof RECORDS> = { schemaVersion: 6, records };
  await writeFile(path, `${JSON.stringify(file, undefined, 1)}\n`);
  return path;
}

function pathOfRecords(name: string): string {
  return pathOf(`bench/${name}.json`);
}

import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Percentiles, Spread } from '../engine/results.ts';
import type { Machine } from '../machine.ts';
import type { Library } from '../peers/install-peers.ts';
import type { Agreement } from './agreement.ts';
import type { Adapter, ContenderName, LibraryName, Precision } from './contender.ts';
import type { GpuCase } from './plan.ts';

/** The schema of `bench/gpu.json`: the last run of each model and precision on a hardware adapter. */
export interface GpuResults {
  /** Raised when a field changes its meaning. */
  readonly schemaVersion: 1;
  readonly runs: readonly GpuRun[];
}

/** One model in one precision. */
export interface GpuRun {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Repeats the run. */
  readonly command: string;
  readonly machine: Machine;
  /** Name and version, as the browser reports them. */
  readonly browser: string;
  readonly adapter: Adapter;
  readonly libraries: readonly Library[];
  /** Label in the tables. */
  readonly model: string;
  readonly precision: Precision;
  readonly numRounds: number;
  /** Why there are no cells: the adapter lacks a feature that the precision needs. */
  readonly obstacle?: string;
  readonly entrants: readonly EntrantResult[];
  readonly cells: readonly CellResult[];
}

export interface EntrantResult {
  readonly library: LibraryName;
  /** Where the library says that it computes. */
  readonly runsOn: string;
  /** Missing if the library could not be loaded or asked. */
  readonly agreement?: Agreement;
  /** Why it was not timed. */
  readonly excluded?: string;
}

export interface CellResult extends GpuCase {
  readonly contender: ContenderName;
  /** Prompt tokens until every row has its first token, or new tokens while all rows decode; one value per round. */
  readonly tokensPerSecond?: Spread;
  /** Time to each request's first token, or between two tokens of a row. */
  readonly ms?: Percentiles;
  readonly failure?: string;
}

export const RESULTS_FILE = fileURLToPath(new URL('../../../bench/gpu.json', import.meta.url));

export async function readGpuResults(): Promise<GpuResults> {
  if (!existsSync(RESULTS_FILE)) return { schemaVersion: 1, runs: [] };
  return JSON.parse(await readFile(RESULTS_FILE, 'utf8'));
}

/** Each run replaces that of its model and precision. */
export async function recordGpuRuns(runs: readonly GpuRun[]): Promise<GpuResults> {
  const isReplaced = (old: GpuRun): boolean =>
    runs.some(({ model, precision }) => model === old.model && precision === old.precision);
  const kept = (await readGpuResults()).runs.filter((old) => !isReplaced(old));
  const results: GpuResults = { schemaVersion: 1, runs: [...kept, ...runs] };
  await mkdir(dirname(RESULTS_FILE), { recursive: true });
  await writeFile(RESULTS_FILE, `${JSON.stringify(results, undefined, 2)}\n`);
  return results;
}

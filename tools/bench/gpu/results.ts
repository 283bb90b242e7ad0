import type { Conditions } from '../conditions.ts';
import type { Library } from '../peers/install-peers.ts';
import { ResultsFile } from '../results-file.ts';
import type { Percentiles, Spread } from '../statistics.ts';
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
export interface GpuRun extends Conditions {
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

export const GPU_RESULTS = new ResultsFile<GpuResults>('gpu.json', { schemaVersion: 1, runs: [] });

/** Each run replaces that of its model and precision. */
export function recordGpuRuns(runs: readonly GpuRun[]): Promise<GpuResults> {
  const isReplaced = (old: GpuRun): boolean =>
    runs.some(({ model, precision }) => model === old.model && precision === old.precision);
  return GPU_RESULTS.update((results) => ({
    runs: [...results.runs.filter((old) => !isReplaced(old)), ...runs],
  }));
}

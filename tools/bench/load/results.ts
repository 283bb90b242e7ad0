import type { Conditions } from '../conditions.ts';
import { ResultsFile } from '../results-file.ts';
import { spreadOf, type Spread } from '../statistics.ts';
import type { TimedLoad } from './in-page.ts';
import type { Format } from './paced-hub.ts';

/** In ms, on the clock and of the CPU. */
export interface Duration {
  readonly ms: number;
  /** Of all renderers; 0 where the system doesn't tell. */
  readonly cpuMs: number;
}

/** One load. */
export interface LoadSample extends Pick<TimedLoad, 'phases'> {
  readonly whole: Duration;
  /** From the hub's last byte until the model serves. */
  readonly afterLastByte: Duration;
  /** From opening the page again until the stored model serves. */
  readonly secondStart: Duration;
  /** Of the largest renderer; 0 where the system doesn't tell. */
  readonly peakBytes: number;
}

type Durations = 'whole' | 'afterLastByte' | 'secondStart';

/** The loads of one built page. */
interface LoadSummary extends Readonly<Record<Durations, { readonly ms: Spread; readonly cpuMs: Spread }>> {
  /** The name of the page. */
  readonly page: string;
  readonly phases: readonly { readonly phase: string; readonly ms: Spread }[];
  readonly peakBytes: Spread;
}

/** One run of `npm run bench -- load`. */
export interface LoadsRun extends Conditions {
  readonly settings: { readonly rounds: number; readonly megabytesPerSecond: number };
  readonly loads: readonly (LoadSummary & { readonly format: Format; readonly numBytes: number })[];
}

/** The schema of `bench/load.json`: the last run. */
interface LoadResults {
  readonly schemaVersion: 1;
  readonly run?: LoadsRun;
}

export const LOAD_RESULTS = new ResultsFile<LoadResults>('load.json', { schemaVersion: 1 });

export function summarizeLoads({
  page,
  samples,
}: {
  readonly page: string;
  readonly samples: readonly LoadSample[];
}): LoadSummary {
  const names = [...new Set(samples.flatMap(({ phases }) => phases.map(([phase]) => phase)))];
  const msOf = (wanted: string): readonly number[] =>
    samples.map(({ phases }) => phases.find(([phase]) => phase === wanted)?.[1] ?? 0);
  const spreadsOf = (name: Durations) => ({
    ms: spreadOf(samples.map((sample) => sample[name].ms)),
    cpuMs: spreadOf(samples.map((sample) => sample[name].cpuMs)),
  });
  return {
    page,
    phases: names.map((phase) => ({ phase, ms: spreadOf(msOf(phase)) })),
    whole: spreadsOf('whole'),
    afterLastByte: spreadsOf('afterLastByte'),
    secondStart: spreadsOf('secondStart'),
    peakBytes: spreadOf(samples.map(({ peakBytes }) => peakBytes)),
  };
}

/** Returns the file's path. */
export async function recordLoads(run: LoadsRun): Promise<string> {
  await LOAD_RESULTS.update(() => ({ run }));
  return LOAD_RESULTS.path;
}

import type { Conditions } from '../conditions.ts';
import type { Library } from '../peers/install-peers.ts';
import { ResultsFile } from '../results-file.ts';
import type { Spread } from '../statistics.ts';
import type { EncoderDtype } from './contender.ts';

/** One run of `npm run bench -- encoder`. */
export interface EncoderBenchRun extends Conditions {
  readonly libraries: readonly Library[];
  readonly numRounds: number;
  readonly numTexts: number;
  /** Tokens of a text. */
  readonly numTokens: Spread;
  readonly dtypes: readonly DtypeResult[];
}

export interface DtypeResult {
  readonly dtype: EncoderDtype;
  readonly ways: readonly WayResult[];
}

export interface WayResult {
  readonly label: string;
  /** Threads and precision, as the library reports them. */
  readonly runsOn: string;
  /** Why there are no figures. */
  readonly failure?: string;
  readonly textsPerSecond?: Spread;
  /** Time of this way over that of Tabserve's list in the same round: the median of the rounds. */
  readonly timeOverOwn?: number;
  /** Of the padded size of all batches, 0 to 1. */
  readonly paddingShare?: number;
  /** Of all texts, between these vectors and those of Tabserve's list in fp32. */
  readonly smallestCosine?: number;
}

/** The schema of `bench/encoder.json`: the last run. */
interface EncoderResults {
  readonly schemaVersion: 1;
  readonly run?: EncoderBenchRun;
}

export const ENCODER_RESULTS = new ResultsFile<EncoderResults>('encoder.json', { schemaVersion: 1 });

/** Returns the file's path. */
export async function recordEncoderRun(run: EncoderBenchRun): Promise<string> {
  await ENCODER_RESULTS.update(() => ({ run }));
  return ENCODER_RESULTS.path;
}

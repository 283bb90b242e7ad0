import type { BenchModel } from '../command-line.ts';
import type { Conditions } from '../conditions.ts';
import { ResultsFile } from '../results-file.ts';
import type { Percentiles, Spread } from '../statistics.ts';
import type { CaseName } from './cases.ts';
import type { BackendName, ContenderName, OwnContenderName } from './contender.ts';
import type { Library } from './install-peers.ts';

/** The schema of `bench/peers.json`: the last run of each backend. Durations in ms, on the clock of each library's page. */
export interface PeerResults {
  /** Raised when a field changes its meaning. */
  readonly schemaVersion: 3;
  readonly runs: PeerRuns;
  /** Those of the real model. */
  readonly smollm2?: PeerRuns;
}

type PeerRuns = { readonly [Backend in BackendName]?: PeerRun };

export interface PeerRun extends Conditions {
  readonly backend: BackendName;
  readonly model: BenchModel;
  readonly libraries: readonly Library[];
  readonly numRounds: number;
  readonly cases: readonly CaseResult[];
}

export interface CaseResult {
  readonly name: CaseName;
  readonly label: string;
  readonly numRequests: number;
  readonly contenders: readonly ContenderResult[];
  readonly excluded: readonly { readonly name: ContenderName; readonly reason: string }[];
}

export interface ContenderResult {
  readonly name: ContenderName;
  /** Adapter or threads, and precision, as far as the library reports them. */
  readonly runsOn: string;
  /** Over all rounds, without tokens beyond the requested number. */
  readonly numTokens: number;
  /** All tokens of a round over its time from the first request to the last answer. */
  readonly tokensPerSecond: Spread;
  /** All prompt tokens of a round over the time until every answer has begun; only in cases with long prompts. */
  readonly promptTokensPerSecond?: Spread;
  /** One value per burst: from its first request to its last answer. */
  readonly wallMs: Percentiles;
  /** One value per request: from when it was due to its first token. */
  readonly ttftMs: Percentiles;
  /** Likewise to its last token. */
  readonly latencyMs: Percentiles;
  readonly numAnswers: number;
  /** Answers that are PyTorch's fp64 greedy ones, token by token. */
  readonly numAsReference: number;
  /** The median of tokens/s of Tabserve's bare client, and of its page, over this one's. */
  readonly over: { readonly [Own in OwnContenderName]?: number };
}

export const PEER_RESULTS = new ResultsFile<PeerResults>('peers.json', { schemaVersion: 3, runs: {} });

/** Replaces the run of its model and backend and keeps the others. Returns the file's path. */
export async function recordPeerRun(run: PeerRun): Promise<string> {
  const part = run.model === 'smollm2' ? 'smollm2' : 'runs';
  await PEER_RESULTS.update((results) => ({ [part]: { ...results[part], [run.backend]: run } }));
  return PEER_RESULTS.path;
}

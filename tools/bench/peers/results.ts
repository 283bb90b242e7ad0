import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { Machine } from '../machine.ts';
import type { Percentiles, Spread } from '../engine/results.ts';
import type { CaseName } from './cases.ts';
import type { BackendName, ContenderName, OwnContenderName } from './contender.ts';
import type { Library } from './install-peers.ts';

/** The schema of `bench/peers.json`: the last run of each backend. Durations in ms, on the clock of each library's page. */
export interface PeerResults {
  /** Raised when a field changes its meaning. */
  readonly schemaVersion: 3;
  readonly runs: { readonly [Backend in BackendName]?: PeerRun };
}

export interface PeerRun {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Repeats the run. */
  readonly command: string;
  readonly machine: Machine;
  /** Processes that wanted to run in the minute before: far above 0, the figures are not to be trusted. */
  readonly loadAverage: number;
  /** As it names itself. */
  readonly browser: string;
  readonly backend: BackendName;
  readonly model: string;
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
  /** Adapter or threads, and precision, as far as the library tells. */
  readonly runsOn: string;
  /** Over all rounds; tokens that nobody asked for are left out. */
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

const FILE = fileURLToPath(new URL('../../../bench/peers.json', import.meta.url));

export async function readPeerResults(): Promise<PeerResults> {
  if (!existsSync(FILE)) return { schemaVersion: 3, runs: {} };
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Replaces the run of its backend and keeps the other's; returns the file's path. */
export async function recordPeerRun(run: PeerRun): Promise<string> {
  const { runs } = await readPeerResults();
  const results: PeerResults = { schemaVersion: 3, runs: { ...runs, [run.backend]: run } };
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
  return FILE;
}

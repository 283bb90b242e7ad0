import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import type { BackendInfo } from '../../../src/protocol/models.ts';
import type { Percentiles, Spread } from '../engine/results.ts';

/** One run of `npm run bench:tabs`. Durations in ms. */
export interface TabsRun {
  /** ISO 8601. */
  readonly startedAt: string;
  /** Repeats the run. */
  readonly command: string;
  readonly browser: string;
  readonly backend: BackendInfo;
  readonly settings: {
    readonly rounds: number;
    readonly maxNewTokens: number;
    readonly numTabs: number;
    readonly numRequests: number;
  };
  readonly tokensPerSecond: { readonly oneTab: Spread; readonly manyTabs: Spread };
  /** From the loss of the tab that leads to the next token in another one. */
  readonly handover: {
    readonly closed: HandoverResult;
    readonly crashed: HandoverResult;
    /** Closed, with a model of 135 million parameters from the hub. */
    readonly fullSize: HandoverResult;
  };
}

export interface HandoverResult {
  readonly totalMs: Percentiles;
  /** Without the load and warm-up of the model in the tab that takes over. */
  readonly withoutLoadMs: Percentiles;
}

/** The schema of `bench/tabs.json`: the last run of each backend. */
export interface TabsResults {
  readonly schemaVersion: 2;
  readonly runs: { readonly [Backend in BackendInfo['name']]?: TabsRun };
}

const FILE = fileURLToPath(new URL('../../../bench/tabs.json', import.meta.url));

export async function readTabs(): Promise<TabsResults> {
  if (!existsSync(FILE)) return { schemaVersion: 2, runs: {} };
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Replaces the run of its backend and keeps the other's; returns the file's path. */
export async function recordTabs(run: TabsRun): Promise<string> {
  const { runs } = await readTabs();
  const results: TabsResults = { schemaVersion: 2, runs: { ...runs, [run.backend.name]: run } };
  await mkdir(dirname(FILE), { recursive: true });
  await writeFile(FILE, `${JSON.stringify(results, undefined, 2)}\n`);
  return FILE;
}

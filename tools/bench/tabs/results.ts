import type { BackendInfo } from '../../../src/protocol/models.ts';
import type { Conditions } from '../conditions.ts';
import { ResultsFile } from '../results-file.ts';
import type { Percentiles, Spread } from '../statistics.ts';

/** One run of `npm run bench -- tabs`. Durations in ms. */
export interface TabsRun extends Conditions {
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
  readonly hidden?: HiddenRun;
}

/** One run of `npm run bench -- hidden`. */
export interface HiddenRun extends Conditions {
  readonly backend: BackendInfo;
  readonly model: string;
  readonly settings: { readonly rounds: number; readonly numRequests: number; readonly maxNewTokens: number };
  /** Asked by another tab. */
  readonly tokensPerSecond: {
    /** With the tab that runs the model in front. */
    readonly visible: Spread;
    readonly hidden: Spread;
    /** Once, after `longHiddenSeconds` more. */
    readonly longHidden: number;
  };
  readonly longHiddenSeconds: number;
}

export const TABS_RESULTS = new ResultsFile<TabsResults>('tabs.json', { schemaVersion: 2, runs: {} });

/** Replaces the run of its backend and keeps the other's. Returns the file's path. */
export async function recordTabs(run: TabsRun): Promise<string> {
  await TABS_RESULTS.update(({ runs }) => ({ runs: { ...runs, [run.backend.name]: run } }));
  return TABS_RESULTS.path;
}

/** Returns the file's path. */
export async function recordHidden(hidden: HiddenRun): Promise<string> {
  await TABS_RESULTS.update(() => ({ hidden }));
  return TABS_RESULTS.path;
}

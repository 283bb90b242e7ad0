import type { BenchModel } from '../../command-line.ts';
import type { BackendName, Contender, ContenderName } from '../contender.ts';
import { runCase, type CaseRun, type TimedRequest } from './run-case.ts';

/** The benchmark's calls in a page. Each contender has a page of its own. */
export interface BenchPeers {
  /** @returns Where the contender computes. */
  load(name: ContenderName, backend: BackendName, model: BenchModel): Promise<string>;
  run(requests: readonly TimedRequest[], leastMs: number): Promise<CaseRun>;
}

declare global {
  interface Window {
    benchPeers: BenchPeers;
  }
}

/** Puts the benchmark's calls into this page. */
export function offerContenders(
  load: (name: ContenderName, backend: BackendName, model: BenchModel) => Promise<Contender>,
): void {
  let contender: Contender | undefined;
  window.benchPeers = {
    async load(name, backend, model) {
      contender = await load(name, backend, model);
      return contender.runsOn;
    },
    run(requests, leastMs) {
      if (!contender) throw new Error('No contender is loaded: call load() first.');
      return runCase(contender, requests, leastMs);
    },
  };
}

import { MAX_CONCURRENT, type BackendName, type Contender, type ContenderName } from '../contender.ts';
import { loadPipeline } from './pipeline.ts';
import { runCase, type CaseRun, type TimedRequest } from './run-case.ts';
import { loadTabserve } from './tabserve.ts';
import { loadWllama } from './wllama.ts';

/** What the benchmark calls in the page; each contender has a page of its own. */
export interface BenchPeers {
  /** @returns Where it computes. */
  load(name: ContenderName, backend: BackendName): Promise<string>;
  run(requests: readonly TimedRequest[]): Promise<CaseRun>;
}

declare global {
  interface Window {
    benchPeers: BenchPeers;
  }
}

const LOADERS: Readonly<Record<ContenderName, (backend: BackendName) => Promise<Contender>>> = {
  tabserve: loadTabserve,
  'pipeline-one': (backend) => loadPipeline(backend, 1),
  'pipeline-list': (backend) => loadPipeline(backend, MAX_CONCURRENT),
  wllama: loadWllama,
};

let contender: Contender | undefined;

window.benchPeers = {
  async load(name, backend) {
    contender = await LOADERS[name](backend);
    return contender.runsOn;
  },
  run(requests) {
    if (!contender) throw new Error('No contender is loaded: call load() first.');
    return runCase(contender, requests);
  },
};

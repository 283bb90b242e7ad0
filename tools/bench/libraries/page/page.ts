import type { Contender } from '../contender.ts';
import { offerEncoder } from './encoder.ts';
import { runBursts } from './run-bursts.ts';

// The page of the libraries: each tab loads its own one only.

let contender: Contender | undefined;

window.benchLibrary = {
  async load(spec, backend, numSlots) {
    const { library } = spec;
    if (library === 'tabserve')
      contender = await (await import('./tabserve.ts')).loadTabserve(spec, backend, numSlots);
    else if (library === 'wllama')
      contender = await (await import('./wllama.ts')).loadWllama(spec, backend, numSlots);
    else contender = await (await import('../peers/pipeline.ts')).loadPipeline(spec, backend);
    return contender.runsOn;
  },
  run(requests, leastMs) {
    if (!contender) throw new Error('No library is loaded: call load() first.');
    return runBursts(contender, requests, leastMs);
  },
};

offerEncoder();

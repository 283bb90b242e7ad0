import type { EncoderContender } from '../contender.ts';

let contender: EncoderContender | undefined;

window.benchEncoder = {
  async load(library, dtype) {
    contender = await (library === 'tabserve'
      ? (await import('./tabserve.ts')).loadTabserve(dtype)
      : (await import('../../peers/peers/feature-extraction.ts')).loadPipeline(dtype));
    return contender.runsOn;
  },
  embed(texts, way) {
    if (!contender) throw new Error('No library is loaded: call load() first.');
    return contender.embed(texts, way);
  },
};

import { connect } from '../../../../src/client/client.ts';
import { EMBEDDER, type BatchRecord } from '../../../../src/client/index.ts';
import { createWorker } from '../../../../src/ui/create-worker.ts';
import { paddingOf } from '../../../../src/ui/views/embed/embed-comparison.ts';
import { listsOf, type EncoderContender, type EncoderDtype, type Way } from '../encoder.ts';
import { placeOf } from './tabserve.ts';

export function offerEncoder(): void {
  let contender: EncoderContender | undefined;
  window.benchEncoder = {
    async load(library, dtype) {
      contender = await (library === 'tabserve'
        ? loadTabserve(dtype)
        : (await import('../peers/feature-extraction.ts')).loadPipeline(dtype));
      return contender.runsOn;
    },
    embed(texts, way) {
      if (!contender) throw new Error('No library is loaded: call load() first.');
      return contender.embed(texts, way);
    },
  };
}

/** Tabserve's client in a page without a generator. */
async function loadTabserve(dtype: EncoderDtype): Promise<EncoderContender> {
  // Tabs of one app share a worker, which has one embedder.
  const serve = await connect({
    worker: createWorker,
    backend: 'wasm',
    name: `bench-encoder-${dtype}`,
    model: null,
  });
  const { encoders } = await serve.loadModel('/models/bench/minilm', { dtype });
  const backend = encoders?.find(({ deployment }) => deployment === EMBEDDER)?.backend;
  const embedder = serve.getHandle(EMBEDDER);

  async function embedAll(texts: readonly string[], way: Way) {
    if (way.isAtOnce) return Promise.all(texts.map((text) => embedder.remote(text)));
    const answers = [];
    for (const list of listsOf(texts, way))
      answers.push(
        ...(way.listSize === 1 ? [await embedder.remote(list[0] ?? '')] : await embedder.remote(list)),
      );
    return answers;
  }

  return {
    runsOn: placeOf(backend),
    async embed(texts, way) {
      const own = serve.status().deployments.find(({ name }) => name === EMBEDDER)?.knobs ?? {};
      if (way.sortWindow !== undefined) await serve.configure(EMBEDDER, { sortWindow: way.sortWindow });
      const batches: BatchRecord[] = [];
      const unsubscribe = serve.subscribe('batch', (batch) => batches.push(batch));
      const startedAtMs = performance.now();
      const answers = await embedAll(texts, way);
      const wallMs = performance.now() - startedAtMs;
      // Answered after the records of all batches have come.
      await serve.configure(EMBEDDER, own);
      unsubscribe();
      return {
        wallMs,
        vectors: answers.map(({ embedding }) => [...embedding]),
        numTokens: answers.map(({ numTokens }) => numTokens),
        paddingShare: paddingOf(batches).paddingShare,
      };
    },
  };
}

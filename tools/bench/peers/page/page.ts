import { connect } from '../../../../src/client/client.ts';
import { createWorker } from '../../../../src/ui/create-worker.ts';
import type { BenchModel } from '../../command-line.ts';
import { MAX_CONCURRENT, type BackendName, type Contender, type ContenderName } from '../contender.ts';
import { offerContenders } from './bench-page.ts';
import { contendWith } from './tabserve.ts';

/** The file that Tabserve reads, too. */
const SMOLLM2_GGUF = 'models/smollm2/model.Q4_1.gguf';

type Load = (backend: BackendName, model: BenchModel) => Promise<Contender>;

/** The page of every contender but the application: each loads its own library only. */
const LOADERS: Readonly<Record<Exclude<ContenderName, 'tabserve-page'>, Load>> = {
  tabserve: (backend, model) => loadTabserve(backend, model, 'fp32'),
  'tabserve-q8': (backend, model) => loadTabserve(backend, model, 'q8'),
  'pipeline-one': (backend, model) => loadList(backend, model, 'fp32', 1),
  'pipeline-list': (backend, model) => loadList(backend, model, 'fp32', MAX_CONCURRENT),
  'pipeline-q8': (backend, model) => loadList(backend, model, 'q8', MAX_CONCURRENT),
  wllama: (backend) => loadGguf(backend, 'models/storyteller.gguf'),
  'wllama-Q4_1': (backend) => loadGguf(backend, SMOLLM2_GGUF),
  'wllama-Q8_0': (backend) => loadGguf(backend, 'models/smollm2/model.Q8_0.gguf'),
  'wllama-F16': (backend) => loadGguf(backend, 'models/smollm2/model.F16.gguf'),
};

async function loadTabserve(
  backend: BackendName,
  model: BenchModel,
  dtype: 'fp32' | 'q8',
): Promise<Contender> {
  // Tabs of one app share a worker, which has one model.
  const serve = await connect({ worker: createWorker, backend, name: `bench-${dtype}` });
  if (model === 'smollm2') {
    const response = await fetch(SMOLLM2_GGUF);
    await serve.loadModel([new File([await response.blob()], 'smollm2.gguf')], { dtype });
  }
  return contendWith(serve);
}

async function loadList(
  backend: BackendName,
  model: BenchModel,
  dtype: 'fp32' | 'q8',
  listSize: number,
): Promise<Contender> {
  const { contendWith: contendWithPipeline, createPipeline } = await import('../peers/pipeline.ts');
  const folder = model === 'smollm2' ? 'smollm2/onnx-model' : 'storyteller-onnx';
  return contendWithPipeline(await createPipeline(backend, folder, dtype), listSize);
}

/** Each slot holds 512 tokens, which is Storyteller's whole context. */
async function loadGguf(backend: BackendName, url: string): Promise<Contender> {
  const { loadWllama } = await import('./wllama.ts');
  return loadWllama(backend, { url, numSlots: MAX_CONCURRENT, contextLength: 512 });
}

offerContenders((name, backend, model) => {
  if (name === 'tabserve-page') throw new Error('The application is a page of its own.');
  return LOADERS[name](backend, model);
});

import { connect } from '../../../../src/client/client.ts';
import { createWorker } from '../../../../src/ui/create-worker.ts';
import { MAX_CONCURRENT, type BackendName, type Contender, type ContenderName } from '../contender.ts';
import { offerContenders } from './bench-page.ts';
import { contendWith } from './tabserve.ts';

/** Each slot gets the model's whole context, as each sequence does in the other libraries. */
const STORYTELLER_GGUF = { url: 'models/storyteller.gguf', numSlots: MAX_CONCURRENT, contextLength: 512 };

/** The page of every contender but the application: each loads its own library only. */
const LOADERS: Readonly<
  Record<Exclude<ContenderName, 'tabserve-page'>, (backend: BackendName) => Promise<Contender>>
> = {
  tabserve: async (backend) => contendWith(await connect({ worker: createWorker, backend })),
  'pipeline-one': (backend) => loadList(backend, 1),
  'pipeline-list': (backend) => loadList(backend, MAX_CONCURRENT),
  wllama: async (backend) => (await import('./wllama.ts')).loadWllama(backend, STORYTELLER_GGUF),
};

async function loadList(backend: BackendName, listSize: number): Promise<Contender> {
  const { contendWith: contendWithPipeline, createPipeline } = await import('../peers/pipeline.ts');
  return contendWithPipeline(await createPipeline(backend, 'storyteller-onnx', 'fp32'), listSize);
}

offerContenders((name, backend) => {
  if (name === 'tabserve-page') throw new Error('The application is a page of its own.');
  return LOADERS[name](backend);
});

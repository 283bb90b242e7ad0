import { connect } from '../../../src/worker/client/client.ts';
import { MAX_CONCURRENT, type BackendName, type Contender, type ContenderName } from '../contender.ts';
import { offerContenders } from './bench-page.ts';
import { contendWith } from './tabserve.ts';

/** The page of every contender but the application: each loads its own library only. */
const LOADERS: Readonly<
  Record<Exclude<ContenderName, 'tabserve-page'>, (backend: BackendName) => Promise<Contender>>
> = {
  tabserve: async (backend) => contendWith(await connect({ backend })),
  'pipeline-one': (backend) => loadList(backend, 1),
  'pipeline-list': (backend) => loadList(backend, MAX_CONCURRENT),
  wllama: async (backend) => (await import('./wllama.ts')).loadWllama(backend),
};

async function loadList(backend: BackendName, listSize: 1 | typeof MAX_CONCURRENT): Promise<Contender> {
  const { loadPipeline } = await import('../peers/pipeline.ts');
  return loadPipeline(backend, listSize);
}

offerContenders((name, backend) => {
  if (name === 'tabserve-page') throw new Error('The application is a page of its own.');
  return LOADERS[name](backend);
});

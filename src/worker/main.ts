import { deployments } from '../deployments/registry.ts';
import { startWorker } from './index.ts';

type InjectFaults = () => Promise<void>;

// The page's own worker.
startWorker({ deployments, prepare: injectFaults });

/** Only the build for tests injects faults. */
async function injectFaults(): Promise<void> {
  if (import.meta.env.MODE !== 'faults') return;
  const files = import.meta.glob<InjectFaults>('../../e2e/faults/*.ts', { import: 'injectFaults' });
  for (const load of Object.values(files)) await (await load())();
}

// The package's entry `tabserve/default-worker`: a worker's whole script, for an app without deployments of its own.
import { startWorker } from './index.ts';

startWorker();

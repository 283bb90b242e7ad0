// Import maps don't reach workers, so this names the package's file.
import { startWorker } from './node_modules/tabserve/dist-package/worker.js';

startWorker();

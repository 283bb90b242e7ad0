import { startWorker } from 'tabserve/worker';

startWorker();

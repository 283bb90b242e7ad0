import { parentPort, workerData } from 'node:worker_threads';
import { serveCalls } from './kernel-thread.ts';

// A thread of kernels in Node.
await serveCalls(workerData, () => parentPort?.postMessage('ready'));

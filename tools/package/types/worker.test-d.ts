import { defineDeployment, startWorker } from 'tabserve/worker';

import { deployments } from './deployments.js';

startWorker();
startWorker({ deployments, runtimeUrl: '/onnxruntime/', prepare: async () => {} });

// @ts-expect-error -- a misspelled option
startWorker({ deployment: deployments });
// @ts-expect-error -- a deployment by itself is no list
startWorker({ deployments: deployments[0] });
// @ts-expect-error -- not a deployment: it has no handler
startWorker({ deployments: [{ name: 'empty' }] });

// @ts-expect-error -- the handler answers without a promise
defineDeployment({ name: 'hasty', checkInput: String, handler: (texts: readonly string[]) => texts });
defineDeployment({
  name: 'wrong',
  // @ts-expect-error -- the handler takes texts, and checkInput returns numbers
  checkInput: (input) => Number(input),
  handler: async (texts: readonly string[]) => texts,
});
defineDeployment({
  name: 'misspelled',
  checkInput: String,
  // @ts-expect-error -- no such option
  batchOptions: { maxBatch: 8 },
  handler: async (texts: readonly string[]) => texts,
});

// The entries with one runtime have all that `tabserve/worker` has.
expectSameWorker(await import('tabserve/worker-webgpu'));
expectSameWorker(await import('tabserve/worker-wasm'));

declare function expectSameWorker(entry: typeof import('tabserve/worker')): void;

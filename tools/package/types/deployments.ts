import {
  defineDeployment,
  fromRayConfig,
  InvalidOptionError,
  loadOnnxModel,
  rowsOf,
  stackRows,
  type OnnxTensor,
} from 'tabserve/worker';

import { sameType } from './same-type.js';

// The deployments of an app, with no annotations.

const shout = defineDeployment({
  name: 'shout',
  checkInput(input) {
    sameType<typeof input, unknown>();
    if (typeof input === 'string') return input;
    throw InvalidOptionError.of('input', 'a string', input);
  },
  batchOptions: { maxBatchSize: 8, batchWaitTimeoutMs: 5, batchSizeFn: (texts) => texts.join('').length },
  async handler(texts, { reason, signal, itemSignals }) {
    sameType<typeof texts, readonly string[]>();
    sameType<typeof reason, 'full' | 'deferred' | 'flush' | 'close' | 'timeout' | 'idle'>();
    sameType<typeof signal, AbortSignal>();
    sameType<typeof itemSignals, readonly AbortSignal[]>();
    return texts.map((text) => (text === '' ? new Error('Nothing to shout.') : `${text.toUpperCase()}!`));
  },
});

const load = loadOnnxModel('./sentiment.onnx');

const sentiment = defineDeployment({
  name: 'sentiment',
  checkInput: (input) => ({ words: String(input).split(' ') }),
  batchOptions: fromRayConfig({ max_batch_size: 4, batch_wait_timeout_s: 0.01 }),
  async handler(inputs) {
    sameType<typeof inputs, readonly { words: string[] }[]>();
    const model = await load();
    const { scores } = await model.run({ input: stackRows(inputs.map(({ words }) => [words.length])) });
    sameType<typeof scores, OnnxTensor | undefined>();
    if (scores?.type !== 'float32') throw new Error('The model has other outputs.');
    sameType<typeof scores.data, Float32Array>();
    return rowsOf(scores).map(([score = 0]) => ({ label: 'positive' as const, score }));
  },
});

export const deployments = [shout, sentiment];

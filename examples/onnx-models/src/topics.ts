import { defineDeployment, InvalidOptionError, loadOnnxModel, rowsOf, stackRows } from 'tabserve/worker';

import { names } from '../model/topics.json';
import { idsOf, maskOf } from './words.ts';

const PADDING = { padToMultipleOf: 8 };
const loadModel = loadOnnxModel(new URL('../model/topics.onnx', import.meta.url), { backend: 'auto' });

/** A classifier of texts: ids of words and a mask, both int64, as many for each text as for the longest. */
export const topics = defineDeployment({
  name: 'topics',
  checkInput(input): readonly number[] {
    const ids = typeof input === 'string' ? idsOf(input) : [];
    if (ids.length > 0) return ids;
    throw InvalidOptionError.of('input', 'a text', input);
  },
  batchOptions: { maxBatchSize: 32, batchWaitTimeoutMs: 20 },
  async handler(texts) {
    const model = await loadModel();
    const input_ids = stackRows(texts, PADDING);
    const attention_mask = stackRows(texts.map(maskOf), PADDING);
    const { logits } = await model.run({ input_ids, attention_mask });
    return rowsOf(logits).map((row) => ({ topic: names[row.indexOf(Math.max(...row))], logits: row }));
  },
});

import { defineDeployment, InvalidOptionError, loadOnnxModel, rowsOf, stackRows } from 'tabserve/worker';

import { names, words } from '../model/topics.json';

const UNKNOWN_ID = 1;
const IDS = new Map(words.map((word, index) => [word, index + 2]));

const loadModel = loadOnnxModel(new URL('../model/topics.onnx', import.meta.url), { backend: 'auto' });

/** A classifier of texts: ids of words and a mask, both int64, as many for each text as for the longest. */
export const topics = defineDeployment({
  name: 'topics',
  checkInput(input): readonly number[] {
    if (typeof input !== 'string' || input.trim() === '')
      throw InvalidOptionError.of('input', 'a text', input);
    return input
      .trim()
      .split(/\s+/)
      .map((word) => IDS.get(word.toLowerCase()) ?? UNKNOWN_ID);
  },
  batchOptions: { maxBatchSize: 32, batchWaitTimeoutMs: 20 },
  async handler(texts) {
    const model = await loadModel();
    const { logits } = await model.run({
      input_ids: stackRows(texts, { padToMultipleOf: 8 }),
      attention_mask: stackRows(
        texts.map((ids) => ids.map(() => 1)),
        { padToMultipleOf: 8 },
      ),
    });
    return rowsOf(logits).map((row) => ({ topic: names[row.indexOf(Math.max(...row))], logits: row }));
  },
});

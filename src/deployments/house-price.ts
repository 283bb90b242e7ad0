// oxlint-disable-next-line import/no-absolute-path -- Vite's spelling of a public file's address, wherever the page lies
import modelUrl from '/models/house-price/model.onnx?url';
import features from '../../public/models/house-price/features.json' with { type: 'json' };
import { InvalidOptionError } from '../batching/base/errors.ts';
import { finiteIn } from '../batching/base/validate.ts';
import { fromRayConfig } from '../batching/batch/ray-config.ts';
import { loadOnnxModel } from '../worker/runtime/ort/onnx-model.ts';
import { rowsOf, stackRows } from '../worker/runtime/ort/onnx-rows.ts';
import { defineDeployment } from '../protocol/deployment.ts';

/** Loaded with the first batch, so that pages without price requests do not fetch it. */
const loadModel = loadOnnxModel(modelUrl);

/** Predicts prices in euros. A house is a list of numbers in the order of the model's features. */
export const housePrice = defineDeployment({
  name: 'house-price',
  checkInput(input): readonly number[] {
    if (!Array.isArray(input) || input.length !== features.length) {
      const names = features.map(({ name }) => name).join(', ');
      throw InvalidOptionError.of('input', `a list of ${features.length} numbers (${names})`, input);
    }
    // The model is useless beyond the ranges of its training data.
    return features.map(({ name, min, max }, i) => finiteIn({ from: min, to: max })(name, input[i]));
  },
  // The tutorial's values.
  batchOptions: fromRayConfig({ max_batch_size: 32, timeout_s: 0.1, stride_s: 0, allow_small_batch: true }),
  async handler(houses) {
    const model = await loadModel();
    const { price } = await model.run({ features: stackRows(houses) });
    return price ? rowsOf(price).flat() : [];
  },
});

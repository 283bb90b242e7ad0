import { defineDeployment, InvalidOptionError, loadOnnxModel, rowsOf, stackRows } from 'tabserve/worker';

const loadModel = loadOnnxModel(new URL('../model/digits.onnx', import.meta.url), { backend: 'auto' });

/** A convolutional network: pictures of 8 x 8 gray values, white on black. */
export const digits = defineDeployment({
  name: 'digits',
  checkInput(input): readonly number[] {
    if (Array.isArray(input) && input.every((value) => Number.isFinite(value) && value >= 0 && value <= 255))
      return input;
    throw InvalidOptionError.of('input', 'a list of 64 gray values from 0 to 255', input);
  },
  batchOptions: { maxBatchSize: 32, batchWaitTimeoutMs: 20 },
  async handler(pictures) {
    const model = await loadModel();
    const { probabilities } = await model.run({ pixels: stackRows(pictures, { shape: [1, 8, 8] }) });
    return rowsOf(probabilities).map((row) => ({ digit: row.indexOf(Math.max(...row)), probabilities: row }));
  },
});

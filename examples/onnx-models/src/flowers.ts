import { defineDeployment, InvalidOptionError, loadOnnxModel, rowsOf, stackRows } from 'tabserve/worker';

const SPECIES = ['setosa', 'versicolor', 'virginica'] as const;

const loadModel = loadOnnxModel(new URL('../model/flowers.onnx', import.meta.url));

/** A classifier of scikit-learn: an int64 label, and the probabilities of all species. */
export const flowers = defineDeployment({
  name: 'flowers',
  checkInput(input): readonly number[] {
    if (Array.isArray(input) && input.every((length) => Number.isFinite(length))) return input;
    throw InvalidOptionError.of('input', 'a list of lengths in cm', input);
  },
  batchOptions: { maxBatchSize: 32, batchWaitTimeoutMs: 20 },
  async handler(inputs) {
    const model = await loadModel();
    const { label, probabilities } = await model.run({ features: stackRows(inputs) });
    const labels = rowsOf(label).flat();
    return rowsOf(probabilities).map((row, index) => ({
      species: SPECIES[labels[index] ?? 0],
      probabilities: row,
    }));
  },
});

import { defineDeployment, InvalidOptionError, loadOnnxModel, rowsOf, stackRows } from 'tabserve/worker';

import { featuresOf } from './features.ts';
import { LANGUAGES, type Language } from './languages.ts';

export interface Guess {
  readonly language: Language;
  /** The model's probability of the language, from 0 to 1. */
  readonly probability: number;
}

/** Fetched with the first batch. */
const loadModel = loadOnnxModel(new URL('../model/languages.onnx', import.meta.url).href);

const language = defineDeployment({
  name: 'language',
  checkInput(input): string {
    if (typeof input === 'string' && /\p{L}/u.test(input)) return input;
    throw InvalidOptionError.of('input', 'a text with letters', input);
  },
  // Gathers the lines of the list, which are asked for together. Without a wait the first one leaves alone.
  batchOptions: { maxBatchSize: 64, batchWaitTimeoutMs: 20 },
  /** A batch is one run of the model: one row per text. */
  async handler(texts): Promise<readonly Guess[]> {
    const model = await loadModel();
    const { probabilities } = await model.run({ features: stackRows(texts.map(featuresOf)) });
    return probabilities ? rowsOf(probabilities).map(mostLikely) : [];
  },
});

export const deployments = [language] as const;

function mostLikely(probabilities: readonly number[]): Guess {
  const probability = Math.max(...probabilities);
  return { language: LANGUAGES[probabilities.indexOf(probability)] ?? LANGUAGES[0], probability };
}

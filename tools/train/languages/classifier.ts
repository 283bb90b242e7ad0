import { NUM_FEATURES, featuresOf } from '../../../examples/classify-list/src/features.ts';
import { encodeOnnxModel, type OnnxInitializer } from '../../../src/worker/models/graph/onnx-proto.ts';
import type { Example } from './corpus.ts';

/** A text as the features that are not zero. */
interface SparseExample {
  readonly indices: readonly number[];
  readonly values: readonly number[];
  readonly language: number;
}

const EPOCHS = 8;
const LEARNING_RATE = 4;

/** Softmax regression: one weight per feature and language. */
export class Classifier {
  readonly numLanguages: number;
  /** [features, languages]. */
  readonly #weights: Float32Array;
  readonly #biases: Float32Array;

  constructor(numLanguages: number) {
    this.numLanguages = numLanguages;
    this.#weights = new Float32Array(NUM_FEATURES * numLanguages);
    this.#biases = new Float32Array(numLanguages);
  }

  /** Stochastic gradient descent, one text at a time, at a rate that falls to zero. @param random Uniform in [0, 1). */
  train(examples: readonly Example[], random: () => number): void {
    const texts = examples.map(toSparse);
    for (let epoch = 0; epoch < EPOCHS; epoch++) {
      const rate = LEARNING_RATE * (1 - epoch / EPOCHS);
      shuffle(texts, random);
      for (const text of texts) this.#step(text, rate);
    }
  }

  /** The share of texts whose most likely language is their own. */
  accuracy(examples: readonly Example[]): number {
    const right = examples.filter((example) => {
      const probabilities = this.#probabilities(toSparse(example));
      return probabilities.indexOf(Math.max(...probabilities)) === example.language;
    });
    return right.length / examples.length;
  }

  /** `features` float32 [n, features] to `probabilities` float32 [n, languages]. */
  toOnnx(): Uint8Array {
    return encodeOnnxModel({
      name: 'languages',
      nodes: [
        { opType: 'Gemm', domain: '', inputs: ['features', 'weights', 'biases'], outputs: ['scores'] },
        {
          opType: 'Softmax',
          domain: '',
          inputs: ['scores'],
          outputs: ['probabilities'],
          attributes: { axis: { int: -1 } },
        },
      ],
      inputs: [{ name: 'features', type: 'float32', dims: ['n', NUM_FEATURES] }],
      outputs: [{ name: 'probabilities', type: 'float32', dims: ['n', this.numLanguages] }],
      initializers: [
        tensor('weights', [NUM_FEATURES, this.numLanguages], this.#weights),
        tensor('biases', [this.numLanguages], this.#biases),
      ],
    });
  }

  #step({ indices, values, language }: SparseExample, rate: number): void {
    const probabilities = this.#probabilities({ indices, values });
    for (const [column, probability] of probabilities.entries()) {
      const error = (column === language ? 1 : 0) - probability;
      this.#biases[column] = (this.#biases[column] ?? 0) + 0.01 * rate * error;
      for (const [i, index] of indices.entries()) {
        const at = index * this.numLanguages + column;
        this.#weights[at] = (this.#weights[at] ?? 0) + rate * error * (values[i] ?? 0);
      }
    }
  }

  #probabilities({ indices, values }: Pick<SparseExample, 'indices' | 'values'>): readonly number[] {
    const scores = Array.from(this.#biases);
    for (const [i, index] of indices.entries()) {
      const value = values[i] ?? 0;
      for (let column = 0; column < this.numLanguages; column++)
        scores[column] =
          (scores[column] ?? 0) + value * (this.#weights[index * this.numLanguages + column] ?? 0);
    }
    const largest = Math.max(...scores);
    const powers = scores.map((score) => Math.exp(score - largest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  }
}

function tensor(name: string, dims: readonly number[], values: Float32Array): OnnxInitializer {
  return { name, type: 'float32', dims, data: new Uint8Array(values.buffer) };
}

function toSparse({ text, language }: Example): SparseExample {
  const features = Array.from(featuresOf(text).entries()).filter(([, value]) => value !== 0);
  return { indices: features.map(([index]) => index), values: features.map(([, value]) => value), language };
}

/** Fisher-Yates, in place. */
function shuffle(items: SparseExample[], random: () => number): void {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [items[last], items[other]];
    if (a && b) [items[last], items[other]] = [b, a];
  }
}

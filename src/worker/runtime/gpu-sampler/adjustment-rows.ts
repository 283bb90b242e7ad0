import type { TokenCounts } from '../../../batching/sampling/adjust-logits.ts';
import type { StepRow } from '../../../batching/generation/model-runner.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';

/** The size of the shader's `Adjustment`. */
const WORDS_PER_TOKEN = 2;

/**
 * The shader's data for adjusting the logit of each token: its count in the sequence and its bias. A row of the vocabulary is filled when its sequence is first sampled; from then on the shader counts by itself. A
 * row stays in place when its sequence changes its slot. No row is allocated before a request has bias or penalties.
 */
export class AdjustmentRows {
  readonly #device: GPUDevice;
  readonly #vocabSize: number;
  #buffer: GPUBuffer;
  #numRows = 0;
  /** The row of each slot: a permutation. */
  readonly #rowOfSlot: number[] = [];
  /** The counts that each row was filled with; they identify the sequence. */
  readonly #owners: (TokenCounts | undefined)[] = [];

  constructor(device: GPUDevice, vocabSize: number) {
    this.#device = device;
    this.#vocabSize = vocabSize;
    this.#buffer = this.#createBuffer(1, WORDS_PER_TOKEN);
  }

  get buffer(): GPUBuffer {
    return this.#buffer;
  }

  /** The row of a slot; 0 before any row is filled, when the shader doesn't read it. */
  rowOf(slot: number): number {
    return this.#rowOfSlot[slot] ?? 0;
  }

  moveSlot(from: number, to: number): void {
    this.#reserve(Math.max(from, to) + 1);
    [this.#rowOfSlot[from], this.#rowOfSlot[to]] = [this.rowOf(to), this.rowOf(from)];
  }

  /** Fills the slot's row unless it has this sequence already. */
  fill({ slot, sampling, tokenCounts }: StepRow): void {
    this.#reserve(slot + 1);
    const row = this.rowOf(slot);
    if (this.#owners[row] === tokenCounts) return;
    this.#owners[row] = tokenCounts;
    const words = new Uint32Array(this.#vocabSize * WORDS_PER_TOKEN);
    const biases = new Float32Array(words.buffer);
    for (const [tokenId, numOutputs] of tokenCounts) words[WORDS_PER_TOKEN * tokenId] = 1 + numOutputs;
    for (const [tokenId, bias] of Object.entries(sampling.logitBias)) {
      biases[WORDS_PER_TOKEN * Number(tokenId) + 1] = bias;
    }
    this.#device.queue.writeBuffer(this.#buffer, row * words.byteLength, words);
  }

  destroy(): void {
    this.#buffer.destroy();
  }

  #reserve(numSlots: number): void {
    if (numSlots <= this.#numRows) return;
    const numRows = 2 ** Math.ceil(Math.log2(numSlots));
    const grown = this.#createBuffer(numRows, this.#vocabSize * WORDS_PER_TOKEN);
    const encoder = this.#device.createCommandEncoder();
    if (this.#numRows > 0) encoder.copyBufferToBuffer(this.#buffer, 0, grown, 0, this.#buffer.size);
    this.#device.queue.submit([encoder.finish()]);
    this.#buffer.destroy();
    this.#buffer = grown;
    for (let row = this.#numRows; row < numRows; row++) this.#rowOfSlot[row] = row;
    this.#numRows = numRows;
  }

  #createBuffer(numRows: number, wordsPerRow: number): GPUBuffer {
    return this.#device.createBuffer({ size: 4 * numRows * wordsPerRow, usage: TENSOR_USAGE });
  }
}

import { isAdjusting } from '../../../batching/sampling/adjust-logits.ts';
import type { SampledToken } from '../../../batching/sampling/sampling.ts';
import type { StepRow } from '../../../batching/generation/model-runner.ts';
import { TENSOR_USAGE } from './gpu-flags.ts';
import { AdjustmentRows } from './adjustment-rows.ts';
import { ReadbackRing } from './readback-ring.ts';
import { encodeRowOptions, ROW_OPTIONS_BYTES } from './row-options.ts';
import { readRecord, RECORD, tokenIdOf } from './sample-record.ts';
import { maskWordsOf, SAMPLER_SHADER } from './shader.ts';

/** The inputs of the next forward pass over the slots, int32 [slots] each. The sampler writes them. */
export interface SlotInputs {
  readonly ids: GPUBuffer;
  readonly positions: GPUBuffer;
  /** Index of the last valid K/V entry; the sampled token's position is one more. */
  readonly lastIndices: GPUBuffer;
}

/**
 * Samples whole batches on the GPU, where the logits are. It draws the same tokens as `createSampler`, and reads back 4
 * bytes per row unless a row wants logprobs. In steady state a step creates no buffer and uploads 64 bytes per row, and a bit per
 * token of the vocabulary for a row with a mask.
 */
export class GpuSampler {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #adjustments: AdjustmentRows;
  readonly #ring: ReadbackRing;
  #options: GPUBuffer;
  #results: GPUBuffer;
  #masks: GPUBuffer;
  readonly #vocabSize: number;
  /** Words of one row's mask. */
  readonly #maskWords: number;
  #group: GPUBindGroup | undefined;
  /** Bindings of the group. */
  #buffers: readonly GPUBuffer[] = [];

  static async create(device: GPUDevice, vocabSize: number): Promise<GpuSampler> {
    return new GpuSampler(device, await pipelineOf(device), vocabSize);
  }

  private constructor(device: GPUDevice, pipeline: GPUComputePipeline, vocabSize: number) {
    this.#device = device;
    this.#pipeline = pipeline;
    this.#adjustments = new AdjustmentRows(device, vocabSize);
    this.#ring = new ReadbackRing(device);
    this.#options = this.#createBuffer(ROW_OPTIONS_BYTES);
    this.#results = this.#createBuffer(resultBytes(1));
    this.#vocabSize = vocabSize;
    this.#maskWords = maskWordsOf(vocabSize);
    this.#masks = this.#createBuffer(4);
  }

  /** Moves the counts of a sequence's tokens with it. */
  moveSlot(from: number, to: number): void {
    this.#adjustments.moveSlot(from, to);
  }

  /**
   * Samples one token per row. The GPU's work is submitted before this returns, so the next forward pass over the slots can be
   * launched at once; only the readback is awaited.
   *
   * @param rows Row i of the logits belongs to `rows[i]`.
   * @param logits float32 [rows, vocabSize]
   * @param encoder May hold commands of a forward pass. They are submitted together with the sampler's.
   * @returns An Error for a row whose logits have no next token; its slot then feeds in token 0.
   */
  sample(
    rows: readonly StepRow[],
    logits: GPUBuffer,
    inputs: SlotInputs,
    encoder: GPUCommandEncoder = this.#device.createCommandEncoder(),
  ): Promise<readonly (SampledToken | Error)[]> {
    this.#reserve(rows.length);
    for (const row of rows) if (isAdjusting(row.sampling)) this.#adjustments.fill(row);
    const options = encodeRowOptions(rows, this.#vocabSize, (slot) => this.#adjustments.rowOf(slot));
    this.#device.queue.writeBuffer(this.#options, 0, options);
    this.#writeMasks(rows);
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    pass.setBindGroup(0, this.#bind(logits, inputs));
    pass.dispatchWorkgroups(rows.length);
    pass.end();
    const wantsLogprobs = rows.some(({ sampling }) => sampling.logprobs !== undefined);
    const numWords = wantsLogprobs ? this.#results.size / 4 : rows.length;
    const readBack = this.#ring.copy(encoder, this.#results, numWords);
    this.#device.queue.submit([encoder.finish()]);
    return this.#samplesOf(rows, readBack());
  }

  destroy(): void {
    this.#adjustments.destroy();
    this.#ring.destroy();
    this.#results.destroy();
    this.#masks.destroy();
    this.#options.destroy();
  }

  #bind(logits: GPUBuffer, { ids, positions, lastIndices }: SlotInputs): GPUBindGroup {
    const buffers = [
      logits,
      this.#options,
      this.#adjustments.buffer,
      ids,
      positions,
      lastIndices,
      this.#results,
      this.#masks,
    ];
    const isSame = buffers.every((buffer, index) => buffer === this.#buffers[index]);
    if (this.#group && isSame) return this.#group;
    this.#buffers = buffers;
    this.#group = this.#device.createBindGroup({
      layout: this.#pipeline.getBindGroupLayout(0),
      entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    return this.#group;
  }

  async #samplesOf(
    rows: readonly StepRow[],
    readback: Promise<Uint32Array>,
  ): Promise<readonly (SampledToken | Error)[]> {
    const numRecords = numRowsOf(this.#results);
    const words = await readback;
    return rows.map(({ sampling }, index) => {
      try {
        const tokenId = tokenIdOf(words[index] ?? 0);
        const start = numRecords + index * RECORD.length;
        const logprobs =
          sampling.logprobs === undefined
            ? undefined
            : readRecord(words.subarray(start, start + RECORD.length), tokenId);
        return { tokenId, logprobs };
      } catch (error) {
        return error instanceof Error ? error : new Error(String(error));
      }
    });
  }

  #reserve(numRows: number): void {
    if (this.#options.size < numRows * ROW_OPTIONS_BYTES) {
      this.#options.destroy();
      this.#options = this.#createBuffer(nextPowerOfTwo(numRows) * ROW_OPTIONS_BYTES);
    }
    if (numRowsOf(this.#results) < numRows) {
      this.#results.destroy();
      this.#results = this.#createBuffer(resultBytes(nextPowerOfTwo(numRows)));
    }
  }

  /** No buffer of masks is allocated before a row has one. */
  #writeMasks(rows: readonly StepRow[]): void {
    const rowBytes = 4 * this.#maskWords;
    for (const [index, { mask }] of rows.entries()) {
      if (!mask) continue;
      if (this.#masks.size < rows.length * rowBytes) {
        this.#masks.destroy();
        this.#masks = this.#createBuffer(nextPowerOfTwo(rows.length) * rowBytes);
      }
      this.#device.queue.writeBuffer(this.#masks, index * rowBytes, mask, 0, this.#maskWords);
    }
  }

  #createBuffer(size: number): GPUBuffer {
    return this.#device.createBuffer({ size, usage: TENSOR_USAGE });
  }
}

/** All models of a device share one. */
const pipelines = new WeakMap<GPUDevice, Promise<GPUComputePipeline>>();

/** Compiles on a browser thread, so the worker can go on: a software adapter takes seconds. */
function pipelineOf(device: GPUDevice): Promise<GPUComputePipeline> {
  const known = pipelines.get(device);
  if (known) return known;
  const module = device.createShaderModule({ code: SAMPLER_SHADER });
  const pipeline = device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  pipelines.set(device, pipeline);
  // The next model tries again.
  pipeline.catch(() => pipelines.delete(device));
  return pipeline;
}

function resultBytes(numRows: number): number {
  return 4 * numRows * (1 + RECORD.length);
}

function numRowsOf(results: GPUBuffer): number {
  return results.size / resultBytes(1);
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

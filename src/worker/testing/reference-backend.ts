import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import type { Model } from '../models/family.ts';
import { rowBytesOf } from '../models/program/layer-state.ts';
import {
  logitTokensOf,
  sampledIdsOf,
  type ForwardInput,
  type ModelBackend,
  type RowCopy,
  type RowStore,
  type SampleOutput,
} from '../runtime/model-backend.ts';
import { createCpuSampler } from '../runtime/cpu-sampler.ts';
import { ReferenceExecutor, ReferenceRow, weightsOf } from './reference-executor.ts';

/** Test support: rows that `ReferenceExecutor` computes, under the real scheduler. The weights are packed in fp32. */
export class ReferenceBackend implements ModelBackend {
  readonly isPipelined = true;
  readonly warmUpShapes = [];
  readonly maxScoredTokens = 64;
  readonly maxGuessedTokens = 0;
  readonly kvCacheLimits: KvCacheLimits;
  readonly #executor: ReferenceExecutor;
  readonly #vocabSize: number;
  readonly #sampleRows: ReturnType<typeof createCpuSampler>;
  readonly #rows: Record<RowStore, ReferenceRow[]> = { staging: [], slots: [], snapshots: [] };
  #sampledIds: Int32Array = new Int32Array();
  #logits: Float32Array = new Float32Array();

  constructor({ model, ...packed }: { readonly model: Model } & Parameters<typeof weightsOf>[0]) {
    this.#executor = new ReferenceExecutor(model.program, weightsOf(packed));
    this.#vocabSize = model.config.vocabSize;
    this.#sampleRows = createCpuSampler(model.config.vocabSize);
    this.kvCacheLimits = {
      ...rowBytesOf(model.program.states, Float32Array.BYTES_PER_ELEMENT),
      maxBytes: 2 ** 20,
      maxSlotBytes: 2 ** 20,
      capacityFor: (length) => 16 * Math.ceil(length / 16),
    };
  }

  resize({ numSlots, numStagingRows, capacity, numSnapshots }: KvShape): void {
    const sizes = { slots: numSlots, staging: numStagingRows, snapshots: numSnapshots };
    for (const target of ['slots', 'staging', 'snapshots'] as const) {
      const kept = this.#rows[target];
      this.#rows[target] = Array.from({ length: sizes[target] }, (_, row) => kept[row] ?? new ReferenceRow());
      for (const row of this.#rows[target]) row.truncate(capacity);
    }
  }

  forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const { target, numRows, tokensPerRow, positions } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const rows = this.#rows[target];
    const logits = Array.from({ length: numRows }, (_, index) => {
      const first = index * tokensPerRow;
      const start = positions[first] ?? 0;
      if (start === 0) rows[index] = new ReferenceRow();
      // Padding goes through the row too, as on any device.
      return this.#executor.run(
        this.#rowOf(target, index),
        Array.from(ids.subarray(first, first + tokensPerRow)),
        start,
      );
    }).flat();
    this.#logits = Float32Array.from([...logitTokensOf(input)].flatMap((token) => logits[token] ?? []));
    return inLaterTask({ runMs: 1 });
  }

  async sample(...[target, given]: Parameters<ModelBackend['sample']>): Promise<SampleOutput> {
    const rows = given instanceof Promise ? await given : given;
    // A row of a step behind another doesn't know its token, which has a position nevertheless.
    const fed = rows.map((row) => (row.tokenIds.length > 0 ? row : { ...row, tokenIds: [0] }));
    const sampled = this.#sampleRows(
      (row) => this.#logits.subarray(row * this.#vocabSize, (row + 1) * this.#vocabSize),
      fed,
    );
    if (target === 'slots') this.#sampledIds = sampledIdsOf(sampled.samples);
    return inLaterTask({ ...sampled, readbackMs: 1 });
  }

  finish(): Promise<{ readonly readbackMs: number }> {
    return inLaterTask({ readbackMs: 1 });
  }

  readLogits(): Promise<Float32Array> {
    return inLaterTask(this.#logits);
  }

  copyRows(from: RowStore, to: RowStore, rows: readonly RowCopy[]): void {
    for (const [row, copy] of rows) {
      const [source, target] = [this.#rowOf(from, row), this.#rowOf(to, copy)];
      if (from === 'snapshots' || to === 'snapshots') target.copyFixed(source);
      else this.#rows[to][copy] = source.copy();
    }
  }

  moveSlot(from: KvSlot, to: KvSlot): void {
    this.copyRows('slots', 'slots', [[from, to]]);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }

  #rowOf(target: RowStore, index: number): ReferenceRow {
    const row = this.#rows[target][index];
    if (!row) throw new Error(`There is no row ${index} in the ${target}`);
    return row;
  }
}

function inLaterTask<Result>(result: Result): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  setTimeout(() => resolve(result));
  return promise;
}

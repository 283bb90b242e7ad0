import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import type { StepRow } from '../../batching/generation/model-runner.ts';
import type { Model } from '../models/family.ts';
import type { ModelConfig } from '../models/program/model-config.ts';
import { rowBytesOf, type RowBytes } from '../models/program/layer-state.ts';
import { createCpuSampler } from '../runtime/cpu-sampler.ts';
import {
  maxScoredTokensOf,
  newRowsOf,
  sampledIdsOf,
  type ForwardInput,
  type ForwardTarget,
  type ModelBackend,
  type PackedModel,
  type RowCopy,
  type RowStore,
  type SampleOutput,
} from '../runtime/model-backend.ts';
import { LARGEST_CACHE } from './cpu-limits.ts';
import { createCpuPlan, type PlannedModel } from './create-plan.ts';
import type { CpuPlan } from './plan/cpu-plan.ts';
import { packTokens, passesOf } from './packed-tokens.ts';
import { CpuStateRows } from './memory/state-rows.ts';

/** Tokens that run together at most: enough that weights are read once for many. */
const MAX_TOKENS = 128;

/** Tokens by which the capacity grows. Keys and values are copied then. */
const CAPACITY_STEP = 64;

/** A generator on this engine's kernels. */
export class CpuBackend implements ModelBackend {
  /** The CPU that would prepare the next pass is busy with this one. */
  readonly isPipelined = false;
  readonly warmUpShapes = [];
  readonly #plan: CpuPlan;
  readonly #endThreads: () => void;
  readonly #config: ModelConfig;
  readonly #rowBytes: RowBytes;
  readonly #sampleRows: ReturnType<typeof createCpuSampler>;
  readonly #rows: Readonly<Record<RowStore, CpuStateRows>>;
  /** Rows of the plan's logits that the last pass asked for. */
  #logitRows: readonly number[] = [];
  #sampledIds: Int32Array = new Int32Array();

  /** @param numThreads More than one needs a cross-origin isolated page. */
  static async create(packedModel: PackedModel, numThreads = 1): Promise<CpuBackend> {
    const planned = await createCpuPlan(packedModel, numThreads);
    return new CpuBackend(planned, packedModel.model);
  }

  private constructor({ plan, memory, endThreads }: PlannedModel, { config, program: { states } }: Model) {
    this.#plan = plan;
    this.#endThreads = endThreads;
    this.#config = config;
    this.#rowBytes = rowBytesOf(states, Float32Array.BYTES_PER_ELEMENT);
    const createRows = (): CpuStateRows => new CpuStateRows(memory, states);
    this.#rows = { slots: createRows(), staging: createRows(), snapshots: createRows() };
    this.#sampleRows = createCpuSampler(config.vocabSize);
  }

  get maxScoredTokens(): number {
    return maxScoredTokensOf(this.#config.vocabSize);
  }

  /** A row with state of a fixed size can't go back behind a wrong guess. */
  get maxGuessedTokens(): number {
    return this.#rowBytes.bytesPerRow > 0 ? 0 : this.maxScoredTokens;
  }

  get kvCacheLimits(): KvCacheLimits {
    const { contextLength } = this.#config;
    return {
      ...this.#rowBytes,
      maxBytes: LARGEST_CACHE,
      maxSlotBytes: LARGEST_CACHE,
      capacityFor: (length) => Math.min(contextLength, CAPACITY_STEP * Math.ceil(length / CAPACITY_STEP)),
    };
  }

  resize({ numSlots, numStagingRows, capacity, numSnapshots }: KvShape): void {
    this.#rows.slots.resize(numSlots, capacity);
    this.#rows.staging.resize(numStagingRows, capacity);
    this.#rows.snapshots.resize(numSnapshots, 0);
    this.#plan.reserve({ numTokens: 1, numPositions: capacity });
  }

  async forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const startedAtMs = performance.now();
    this.#rows[input.target].clear(newRowsOf(input));
    const tokens = packTokens(input, input.ids === 'sampled' ? this.#sampledIds : input.ids);
    this.#plan.reserve({ numTokens: Math.min(MAX_TOKENS, tokens.ids.length), numPositions: 1 });
    this.#plan.logits.reserve(tokens.logitTokens.length);
    for (const { pass, inputs } of passesOf(tokens, MAX_TOKENS, this.#rows[input.target]))
      await this.#plan.run(pass, inputs);
    this.#logitRows = tokens.logitRows;
    return { runMs: performance.now() - startedAtMs };
  }

  async sample(
    target: ForwardTarget,
    pending: readonly StepRow[] | Promise<readonly StepRow[]>,
  ): Promise<SampleOutput> {
    const rows = await pending;
    const sampled = this.#sampleRows((index) => this.#logitsAt(index), rows);
    if (target === 'slots') this.#sampledIds = sampledIdsOf(sampled.samples);
    return { ...sampled, readbackMs: 0 };
  }

  finish(): Promise<{ readonly readbackMs: number }> {
    return Promise.resolve({ readbackMs: 0 });
  }

  readLogits(numRows: number): Promise<Float32Array> {
    const { vocabSize } = this.#config;
    const logits = new Float32Array(numRows * vocabSize);
    for (let i = 0; i < numRows; i++) logits.set(this.#logitsAt(i), i * vocabSize);
    return Promise.resolve(logits);
  }

  #logitsAt(index: number): Float32Array {
    return this.#plan.logits.row(this.#logitRows[index] ?? 0);
  }

  copyRows(from: RowStore, to: RowStore, rows: readonly RowCopy[]): void {
    this.#rows[from].copyTo(this.#rows[to], rows);
  }

  moveSlot(from: KvSlot, to: KvSlot): void {
    this.copyRows('slots', 'slots', [[from, to]]);
  }

  /** The garbage collector takes the memory. */
  release(): Promise<void> {
    this.#endThreads();
    return Promise.resolve();
  }
}

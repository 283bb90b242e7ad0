import { createMutex } from '../../platform/mutex.ts';
import { WasmAbortError } from '../runtime/faults/runtime-errors.ts';
import type { EncoderConfig } from '../models/encoder/encoder-config.ts';
import type { EncoderBackend } from '../runtime/encoder-backend.ts';
import { sharesOf, sumOf, type EncoderRow } from '../runtime/encoder-inputs.ts';
import { RunCost } from '../runtime/run-cost.ts';
import { isWasmAbort } from '../runtime/faults/fault-of.ts';
import type { PackedModel } from '../runtime/model-backend.ts';
import { createCpuPlan, type PlannedModel } from './create-plan.ts';
import type { CpuPlan } from './plan/cpu-plan.ts';
import type { Pass, Span } from './plan/pass.ts';

/** Tokens that run together at most, but for a text that is longer by itself. */
const MAX_TOKENS = 128;

/** Limits the buffers of a pass. In bytes. */
const MAX_BUFFER_BYTES = 2 ** 28;

/** An encoder on this engine's kernels. It keeps nothing between runs. */
export class CpuEncoder implements EncoderBackend {
  readonly name = 'wasm';
  /** Runs here, without the time that others take in their pauses. */
  readonly cost = new RunCost();
  readonly #plan: CpuPlan;
  readonly #endThreads: () => void;
  readonly #encoder: EncoderConfig;
  /** A run pauses, and its buffers are the plan's: batches run one after another. */
  readonly #mutex = createMutex();

  /** @param numThreads More than one needs a cross-origin isolated page. */
  static async create(packedModel: PackedModel, encoder: EncoderConfig, numThreads = 1): Promise<CpuEncoder> {
    return new CpuEncoder(await createCpuPlan(packedModel, numThreads), encoder);
  }

  private constructor({ plan, endThreads }: PlannedModel, encoder: EncoderConfig) {
    this.#plan = plan;
    this.#endThreads = endThreads;
    this.#encoder = encoder;
  }

  /** The longest row that the memory holds, in tokens. */
  get maxTokens(): number {
    return Math.min(this.#encoder.maxTokens, Math.floor(MAX_BUFFER_BYTES / this.#plan.tokenBytes));
  }

  /** Rows run some at a time, so any number fits. */
  fits(): boolean {
    return true;
  }

  /**
   * @param isMeasured Whether the run adds to `cost`.
   * @returns A vector or a score for each row, in order.
   * @throws WasmAbortError if nothing runs in this worker any more.
   */
  run(rows: readonly EncoderRow[], isMeasured = true): Promise<readonly Float32Array[]> {
    return this.#mutex.run(() => this.#run(rows, isMeasured));
  }

  /** Waits for runs that have begun: threads must not end in their middle. The garbage collector takes the memory. */
  release(): Promise<void> {
    return this.#mutex.run(() => Promise.resolve(this.#endThreads()));
  }

  async #run(rows: readonly EncoderRow[], isMeasured: boolean): Promise<readonly Float32Array[]> {
    try {
      const outputs: Float32Array[] = [];
      let busyMs = 0;
      for (const group of groupsOf(rows)) {
        busyMs += await this.#runGroup(group);
        outputs.push(...group.map((_, text) => this.#plan.readText(text)));
      }
      if (isMeasured) this.cost.record(sumOf(rows), busyMs);
      return outputs;
    } catch (cause) {
      throw isWasmAbort(cause) ? WasmAbortError.because(cause) : cause;
    }
  }

  #runGroup(rows: readonly EncoderRow[]): Promise<number> {
    const numTokens = sumOf(rows);
    const numPositions = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
    this.#plan.reserve({ numTokens, numPositions });
    const spans = spansOf(rows);
    const inputs = this.#inputsOf(rows, spans, numTokens);
    const wantedTokens = [...inputs.shares.keys()].filter((token) => inputs.shares[token] !== 0);
    const pass: Pass = { numTokens, spans, wantedTokens, firstLogitRow: 0, state: undefined };
    return this.#plan.run(pass, inputs);
  }

  #inputsOf(rows: readonly EncoderRow[], spans: readonly Span[], numTokens: number) {
    const inputs = {
      ids: new Int32Array(numTokens),
      positions: new Int32Array(numTokens),
      types: new Int32Array(numTokens),
      shares: new Float32Array(numTokens),
    };
    for (const [i, { tokenIds, numFirst }] of rows.entries()) {
      const { start = 0 } = spans[i] ?? {};
      inputs.ids.set(tokenIds, start);
      inputs.types.fill(1, start + numFirst, start + tokenIds.length);
      inputs.shares.set(sharesOf(tokenIds.length, this.#encoder.pooling), start);
      for (const at of tokenIds.keys()) inputs.positions[start + at] = at;
    }
    return inputs;
  }
}

function spansOf(rows: readonly EncoderRow[]): readonly Span[] {
  let start = 0;
  return rows.map(({ tokenIds }, row) => {
    start += tokenIds.length;
    return { row, start: start - tokenIds.length, numTokens: tokenIds.length, position: 0 };
  });
}

/** Neighbors with few tokens together, each whole. */
function groupsOf(rows: readonly EncoderRow[]): readonly (readonly EncoderRow[])[] {
  const groups: EncoderRow[][] = [];
  let numTokens = Infinity;
  for (const row of rows) {
    numTokens += row.tokenIds.length;
    if (numTokens > MAX_TOKENS) {
      groups.push([]);
      numTokens = row.tokenIds.length;
    }
    groups.at(-1)?.push(row);
  }
  return groups;
}

import type { ModelConfig } from '../models/program/model-config.ts';
import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import { createCpuSampler } from '../runtime/cpu-sampler.ts';
import {
  logitTokensOf,
  sampledIdsOf,
  type ForwardInput,
  type ModelBackend,
  type PassShape,
  type RowCopy,
  type RowStore,
  type SampleOutput,
} from '../runtime/model-backend.ts';

/** Test support: a model whose next token is always the last one plus one. Records its calls. */
export class ScriptedBackend implements ModelBackend {
  static readonly config: ModelConfig = {
    vocabSize: 64,
    contextLength: 300,
    numLayers: 1,
    eosTokenIds: [63],
  };
  /** One line per call. */
  readonly calls: string[] = [];
  /** A token id after which a row's logits are NaN. */
  poison: number | undefined;
  readonly isPipelined: boolean = false;
  readonly warmUpShapes: readonly PassShape[] = [8, 16, 24, 32].map((tokensPerRow) => ({
    target: 'staging',
    numRows: 1,
    tokensPerRow,
  }));
  #sampledIds: Int32Array = new Int32Array();
  readonly #sampleRows = createCpuSampler(ScriptedBackend.config.vocabSize);
  #logits = new Float32Array();

  readonly kvCacheLimits: KvCacheLimits = {
    bytesPerRow: 0,
    bytesPerToken: 32,
    maxBytes: 2 ** 20,
    maxSlotBytes: 2 ** 20,
    capacityFor: (length) => Math.max(128, 2 ** Math.ceil(Math.log2(length))),
  };
  readonly maxScoredTokens: number = 16;
  readonly maxGuessedTokens = 0;
  /** Resolves with `fail`. */
  readonly failure: Promise<Error>;
  readonly fail: (error: Error) => void;
  /** Rejects the next runs. */
  runError: Error | undefined;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.failure = promise;
    this.fail = resolve;
  }

  resize({ numSlots, numStagingRows, capacity }: KvShape): void {
    this.calls.push(`resize ${numSlots}+${numStagingRows}x${capacity}`);
  }

  forward(input: ForwardInput): Promise<{ readonly runMs: number }> {
    const { target, numRows, tokensPerRow, positions, lastIndices, scoredTokens } = input;
    const ids = input.ids === 'sampled' ? this.#sampledIds : input.ids;
    const named = input.ids === 'sampled' ? 'sampled' : input.ids.join();
    this.calls.push(
      `forward ${target} ${numRows}x${tokensPerRow} ids ${named} positions ${positions.join()} last ${lastIndices.join()}` +
        (scoredTokens ? ` scored ${scoredTokens.join()}` : ''),
    );
    if (this.runError) return Promise.reject(this.runError);
    const { vocabSize } = ScriptedBackend.config;
    const logitTokens = logitTokensOf(input);
    this.#logits = new Float32Array(logitTokens.length * vocabSize);
    for (const [row, token] of logitTokens.entries()) {
      const last = ids[token] ?? 0;
      if (last === this.poison) this.#logits.fill(Number.NaN, row * vocabSize, (row + 1) * vocabSize);
      else this.#logits[row * vocabSize + last + 1] = 1;
    }
    return inLaterTask({ runMs: 2 });
  }

  async sample(...[target, given]: Parameters<ModelBackend['sample']>): Promise<SampleOutput> {
    const rows = given instanceof Promise ? await given : given;
    this.calls.push(`sample ${target}`);
    const sampled = this.#sampleRows(
      (row) =>
        this.#logits.subarray(
          row * ScriptedBackend.config.vocabSize,
          (row + 1) * ScriptedBackend.config.vocabSize,
        ),
      rows,
    );
    if (target === 'slots') this.#sampledIds = sampledIdsOf(sampled.samples);
    return inLaterTask({ ...sampled, readbackMs: 3 });
  }

  finish(): Promise<{ readonly readbackMs: number }> {
    this.calls.push('finish');
    return inLaterTask({ readbackMs: 3 });
  }

  readLogits(): Promise<Float32Array> {
    return inLaterTask(this.#logits);
  }

  copyRows(from: RowStore, to: RowStore, rows: readonly RowCopy[]): void {
    if (from === to) this.calls.push(...rows.map(([row, copy]) => `copy ${row} to ${copy}`));
    else if (from === 'snapshots' || to === 'snapshots')
      this.calls.push(...rows.map(([row, copy]) => `${from} ${row} to ${to} ${copy}`));
    else if (from === 'staging') this.calls.push(`staging to ${rows.map(([, slot]) => slot).join()}`);
    else this.calls.push(`${rows.map(([slot]) => slot).join()} to staging`);
  }

  moveSlot(from: KvSlot, to: KvSlot): void {
    this.calls.push(`move ${from} to ${to}`);
  }

  release(): Promise<void> {
    return Promise.resolve();
  }
}

function inLaterTask<Value>(value: Value): Promise<Value> {
  const { promise, resolve } = Promise.withResolvers<Value>();
  setTimeout(() => resolve(value));
  return promise;
}

import { ModelRunError } from '../../batching/errors.ts';
import type {
  DecodeStep,
  ModelRunner,
  PrefillStep,
  Step,
  StepOutput,
  StepRow,
} from '../../batching/generation/model-runner.ts';
import { createSampler, type SampledToken, type SampleToken } from '../../batching/generation/sampling.ts';
import type { Gpt2Config } from '../model/gpt2-config.ts';
import type { ForwardOutput, Gpt2Backend } from './gpt2-backend.ts';

/** Cached tokens per row grow in these steps, so that memory follows use and not the longest possible context. */
const SMALLEST_CAPACITY = 128;

/** Runs the engine's steps on a GPT-2 backend; samples on the CPU from the logits of the last token. */
export class Gpt2Runner implements ModelRunner {
  readonly #backend: Gpt2Backend;
  readonly #config: Gpt2Config;
  readonly #sampleToken: SampleToken;

  constructor(backend: Gpt2Backend, config: Gpt2Config) {
    this.#backend = backend;
    this.#config = config;
    this.#sampleToken = createSampler(config.vocabSize);
  }

  run(step: Step): Promise<StepOutput> {
    return step.kind === 'prefill' ? this.#prefill(step) : this.#decode(step);
  }

  async #prefill({ row, isLastChunk }: PrefillStep): Promise<StepOutput> {
    const numTokens = row.tokenIds.length;
    const length = row.startPosition + numTokens;
    this.#backend.reserve(1, this.#capacityFor(length));
    const output = await this.#backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: numTokens,
      ids: Int32Array.from(row.tokenIds),
      positions: Int32Array.from({ length: numTokens }, (_, i) => row.startPosition + i),
      lastIndices: Int32Array.of(length - 1),
      wantsLogits: isLastChunk,
    });
    if (!isLastChunk) return { tokenIds: [], runMs: output.runMs, readbackMs: output.readbackMs };
    this.#backend.reserve(nextPowerOfTwo(row.slot + 1), this.#capacityFor(length));
    this.#backend.copyStagingTo(row.slot);
    return this.#sample([row], output);
  }

  async #decode({ moves, rows }: DecodeStep): Promise<StepOutput> {
    for (const { from, to } of moves) this.#backend.moveSlot(from, to);
    const positions = Int32Array.from(rows, (row) => row.startPosition);
    this.#backend.reserve(nextPowerOfTwo(rows.length), this.#capacityFor(Math.max(...positions) + 1));
    const output = await this.#backend.forward({
      target: 'slots',
      numRows: rows.length,
      tokensPerRow: 1,
      ids: Int32Array.from(rows, ({ tokenIds }) => tokenIds[0] ?? 0),
      positions,
      // The entry of the token that is fed in is the row's last one.
      lastIndices: positions,
      wantsLogits: true,
    });
    return this.#sample(rows, output);
  }

  #sample(rows: readonly StepRow[], { logits, runMs, readbackMs }: ForwardOutput): StepOutput {
    const { vocabSize } = this.#config;
    const samples = rows.map((row, i) =>
      this.#sampleRow(row, logits.subarray(i * vocabSize, (i + 1) * vocabSize)),
    );
    return {
      tokenIds: samples.map((sample) => (sample instanceof Error ? sample : sample.tokenId)),
      logprobs: samples.map((sample) => (sample instanceof Error ? undefined : sample.logprobs)),
      runMs,
      readbackMs,
    };
  }

  /** Logits without a next token fail their own row and no other. */
  #sampleRow(row: StepRow, logits: Float32Array): SampledToken | Error {
    const position = row.startPosition + row.tokenIds.length;
    try {
      return this.#sampleToken(logits, { params: row.sampling, position, tokenCounts: row.tokenCounts });
    } catch (error) {
      return ModelRunError.because(error);
    }
  }

  #capacityFor(length: number): number {
    return Math.min(this.#config.contextLength, Math.max(SMALLEST_CAPACITY, nextPowerOfTwo(length)));
  }
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

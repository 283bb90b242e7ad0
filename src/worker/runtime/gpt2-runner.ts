import { ModelRunError } from '../../batching/errors.ts';
import type {
  DecodeStep,
  ModelRunner,
  PrefillStep,
  StartedStep,
  Step,
  StepOutput,
} from '../../batching/generation/model-runner.ts';
import type { Gpt2Config } from '../model/gpt2-config.ts';
import type { Gpt2Backend, SampleOutput } from './gpt2-backend.ts';

/** Runs the engine's steps on a GPT-2 backend, which samples from the logits of the last token. */
export class Gpt2Runner implements ModelRunner {
  readonly #backend: Gpt2Backend;
  readonly #config: Gpt2Config;

  constructor(backend: Gpt2Backend, config: Gpt2Config) {
    this.#backend = backend;
    this.#config = config;
  }

  get isPipelined(): boolean {
    return this.#backend.isPipelined;
  }

  start(step: Step): StartedStep {
    const { promise: launched, resolve } = Promise.withResolvers<void>();
    const output = step.kind === 'prefill' ? this.#prefill(step) : this.#decode(step, resolve);
    output.then(
      () => resolve(),
      () => resolve(),
    );
    return { launched, output };
  }

  async #prefill({ row, isLastChunk }: PrefillStep): Promise<StepOutput> {
    const numTokens = row.tokenIds.length;
    const length = row.startPosition + numTokens;
    this.#backend.reserve(1, this.#capacityFor(length));
    const { runMs } = await this.#backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: numTokens,
      ids: Int32Array.from(row.tokenIds),
      positions: Int32Array.from({ length: numTokens }, (_, i) => row.startPosition + i),
      lastIndices: Int32Array.of(length - 1),
    });
    if (!isLastChunk) return { tokenIds: [], runMs, ...(await this.#backend.finish()) };
    this.#backend.reserve(nextPowerOfTwo(row.slot + 1), this.#capacityFor(length));
    this.#backend.copyStagingTo(row.slot);
    return stepOutput(runMs, await this.#backend.sample('staging', [row]));
  }

  async #decode({ moves, rows, isBehind }: DecodeStep, onLaunched: () => void): Promise<StepOutput> {
    for (const { from, to } of moves) this.#backend.moveSlot(from, to);
    const positions = Int32Array.from(rows, (row) => row.startPosition);
    this.#backend.reserve(nextPowerOfTwo(rows.length), this.#capacityFor(Math.max(...positions) + 1));
    const { runMs } = await this.#backend.forward({
      target: 'slots',
      numRows: rows.length,
      tokensPerRow: 1,
      ids: isBehind ? 'sampled' : Int32Array.from(rows, ({ tokenIds }) => tokenIds[0] ?? 0),
      positions,
      // The entry of the token that is fed in is the row's last one.
      lastIndices: positions,
    });
    // Its work is on the device when this returns; only the tokens are still to come.
    const samples = this.#backend.sample('slots', rows);
    onLaunched();
    return stepOutput(runMs, await samples);
  }

  #capacityFor(length: number): number {
    return Math.min(this.#config.contextLength, this.#backend.capacityFor(length));
  }
}

function stepOutput(runMs: number, { samples, readbackMs }: SampleOutput): StepOutput {
  return {
    tokenIds: samples.map((sample) =>
      sample instanceof Error ? ModelRunError.because(sample) : sample.tokenId,
    ),
    logprobs: samples.map((sample) => (sample instanceof Error ? undefined : sample.logprobs)),
    runMs,
    readbackMs,
  };
}

function nextPowerOfTwo(value: number): number {
  return 2 ** Math.ceil(Math.log2(value));
}

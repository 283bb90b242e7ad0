import { modelRunFailed } from '../../batching/generation/generation-errors.ts';
import type { KvCacheLimits, KvShape } from '../../batching/generation/kv-memory.ts';
import {
  numTokensOf,
  type DecodeStep,
  type ModelRunner,
  type PrefillStep,
  type PromptScoring,
  type StartedStep,
  type Step,
  type StepOutput,
  type StepRow,
} from '../../batching/generation/model-runner.ts';
import type { ModelBackend } from './model-backend.ts';
import { scoreTokens } from './score-tokens.ts';

/** Runs the engine's steps on a backend, which samples from the logits of the last token. */
export class BackendRunner implements ModelRunner {
  /** A pass over a few short prompts is mostly overhead, so padding costs little. */
  readonly maxPrefillRows = 8;
  readonly maxScoredTokens: number;
  readonly maxGuessedTokens: number;
  readonly isPipelined: boolean;
  readonly kvCacheLimits: KvCacheLimits;
  readonly #backend: ModelBackend;

  constructor(backend: ModelBackend) {
    this.maxScoredTokens = backend.maxScoredTokens;
    this.maxGuessedTokens = backend.maxGuessedTokens;
    this.isPipelined = backend.isPipelined;
    this.kvCacheLimits = backend.kvCacheLimits;
    this.#backend = backend;
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

  resizeKvCache(shape: KvShape): void {
    this.#backend.resize(shape);
  }

  async #prefill(step: PrefillStep): Promise<StepOutput> {
    const { rows, isLastChunk, takenSnapshot } = step;
    this.#prepare(step, step);
    const tokensPerRow = Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
    const scoring = rows[0]?.scoring;
    const { runMs } = await this.#backend.forward({
      target: 'staging',
      numRows: rows.length,
      tokensPerRow,
      ids: rowMajor(rows, tokensPerRow, ({ tokenIds }, index) => tokenIds[index] ?? PADDING_ID),
      positions: rowMajor(rows, tokensPerRow, ({ startPosition }, index) => startPosition + index),
      lastIndices: Int32Array.from(
        rows,
        ({ startPosition, tokenIds }) => startPosition + tokenIds.length - 1,
      ),
      ...(scoring && { scoredTokens: Int32Array.from(scoring.targetTokenIds.keys()) }),
    });
    if (takenSnapshot !== undefined) this.#backend.copyRows('staging', 'snapshots', [[0, takenSnapshot]]);
    if (isLastChunk) {
      const copies = rows.map(({ slot }, row) => [row, slot] as const);
      this.#backend.copyRows('staging', 'slots', copies);
    }
    const output = isLastChunk
      ? { runMs, ...(await this.#backend.sample('staging', rows)) }
      : { samples: [], runMs, ...(await this.#backend.finish()) };
    return scoring ? this.#withScores(scoring, output) : output;
  }

  /** The backend keeps the logits until the next forward pass. */
  async #withScores({ targetTokenIds, numLogprobs }: PromptScoring, output: StepOutput): Promise<StepOutput> {
    if (targetTokenIds.length === 0) return { ...output, promptLogprobs: [] };
    const startedAtMs = performance.now();
    // The first row of logits belongs to the row's last token, which the sampler has read.
    const logits = await this.#backend.readLogits(1 + targetTokenIds.length);
    const vocabSize = logits.length / (1 + targetTokenIds.length);
    const scores = await scoreTokens(logits.subarray(vocabSize), targetTokenIds, numLogprobs);
    return {
      ...output,
      promptLogprobs: scores instanceof Error ? modelRunFailed(scores) : scores,
      readbackMs: output.readbackMs + performance.now() - startedAtMs,
    };
  }

  async #decode(step: DecodeStep, onLaunched: () => void): Promise<StepOutput> {
    const { rows, isBehind, masks } = step;
    this.#prepare(step);
    const sampled = masks?.then((known) => rows.map((row, index) => ({ ...row, mask: known[index] })));
    const tokensPerRow = Math.max(...rows.map(numTokensOf));
    const { runMs } = await this.#backend.forward({
      target: 'slots',
      numRows: rows.length,
      tokensPerRow,
      ids: isBehind ? 'sampled' : rowMajor(rows, tokensPerRow, decodedId),
      positions: rowMajor(rows, tokensPerRow, ({ startPosition }, index) => startPosition + index),
      lastIndices: Int32Array.from(rows, (row) => row.startPosition + numTokensOf(row) - 1),
      ...(tokensPerRow > 1 && { scoredTokens: tokensBeforeGuesses(rows, tokensPerRow) }),
    });
    const samples = this.#backend.sample('slots', sampled ?? rows);
    // The work is on the device then; only the tokens are still to come.
    if (sampled) await sampled;
    onLaunched();
    return { runMs, ...(await samples) };
  }

  #prepare(
    { kvShape, transfers }: Step,
    { reusedSlot, restoredSnapshot }: Partial<Pick<PrefillStep, 'reusedSlot' | 'restoredSnapshot'>> = {},
  ): void {
    this.#backend.resize(kvShape);
    // A transfer may overwrite it.
    if (reusedSlot !== undefined) this.#backend.copyRows('slots', 'staging', [[reusedSlot, 0]]);
    if (restoredSnapshot !== undefined)
      this.#backend.copyRows('snapshots', 'staging', [[restoredSnapshot, 0]]);
    for (const { kind, from, to } of transfers) {
      if (kind === 'move') this.#backend.moveSlot(from, to);
      else this.#backend.copyRows('slots', 'slots', [[from, to]]);
    }
  }
}

/** The known token of a row in a decode step, then its guesses. */
function decodedId({ tokenIds, guessedTokenIds }: StepRow, index: number): number {
  return (index === 0 ? tokenIds[0] : guessedTokenIds?.[index - 1]) ?? PADDING_ID;
}

/** What is sampled behind each of these is compared with the guess that follows it. As indices among the tokens of the pass. */
function tokensBeforeGuesses(rows: readonly StepRow[], tokensPerRow: number): Int32Array {
  return Int32Array.from(
    rows.flatMap(({ guessedTokenIds = [] }, row) =>
      Array.from(guessedTokenIds, (_, index) => row * tokensPerRow + index),
    ),
  );
}

/** Attention is causal, so padding behind a row's last token changes nothing before it. */
const PADDING_ID = 0;

function rowMajor(
  rows: readonly StepRow[],
  tokensPerRow: number,
  valueOf: (row: StepRow, index: number) => number,
): Int32Array {
  return Int32Array.from(
    rows.flatMap((row) => Array.from({ length: tokensPerRow }, (_, index) => valueOf(row, index))),
  );
}

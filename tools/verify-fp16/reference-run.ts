import type { KvSlot } from '../../src/batching/generation/kv-slots.ts';
import type { ModelBackend } from '../../src/worker/runtime/model-backend.ts';
import { argmax, relativeError, type ExpectedLogits } from './logits.ts';

export interface ReferencePrompt extends ExpectedLogits {
  readonly promptTokenIds: readonly number[];
  readonly greedyTokenIds: readonly number[];
  /** Smallest distance of the two largest logits over the greedy steps. */
  readonly minGreedyMargin: number;
}

interface Row {
  readonly slot: number;
  readonly tokenIds: number[];
}

const SMALL_CAPACITY = 256;
const LARGE_CAPACITY = 512;

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
const slotOf = (index: number) => index as KvSlot;

/** Runs the reference's prompts on a backend, through every operation of its K/V cache. */
export class ReferenceRun {
  readonly #backend: ModelBackend;
  readonly #vocabSize: number;

  constructor(backend: ModelBackend, vocabSize: number) {
    this.#backend = backend;
    this.#vocabSize = vocabSize;
    backend.resize({ numSlots: 8, numStagingRows: 1, capacity: SMALL_CAPACITY });
  }

  /** Relative error of the last token's logits, the prompt prefilled in chunks of these lengths (default: whole). */
  async prefillError(
    prompt: ReferencePrompt,
    chunkLengths = [prompt.promptTokenIds.length],
  ): Promise<number> {
    let start = 0;
    let logits: Float32Array = new Float32Array();
    for (const length of chunkLengths) {
      logits = await this.#prefill(prompt.promptTokenIds.slice(start, start + length), start);
      start += length;
    }
    return relativeError(logits, prompt);
  }

  /**
   * Decodes two prompts greedily in one batch with idle rows between them. On the way the first one is moved to
   * another slot, and the cache grows in slots and in capacity.
   */
  async greedyPair(
    prompts: readonly [ReferencePrompt, ReferencePrompt],
    numTokens: number,
  ): Promise<number[][]> {
    this.#backend.resize({ numSlots: 4, numStagingRows: 1, capacity: SMALL_CAPACITY });
    let rows = [await this.#admit(prompts[0], 3), await this.#admit(prompts[1], 1)] as const;
    for (let step = 1; step < numTokens; step++) {
      if (step === 8) {
        this.#backend.transfer({ kind: 'move', from: slotOf(3), to: slotOf(0) });
        rows = [{ ...rows[0], slot: 0 }, rows[1]];
      }
      if (step === 16) {
        this.#backend.resize({ numSlots: 8, numStagingRows: 1, capacity: LARGE_CAPACITY });
      }
      await this.#decode(rows);
    }
    return rows.map(({ tokenIds }, i) => tokenIds.slice(prompts[i]?.promptTokenIds.length));
  }

  /** Decodes all prompts greedily in one batch. */
  async greedyAll(prompts: readonly ReferencePrompt[], numTokens: number): Promise<number[][]> {
    const numSlots = prompts.length;
    this.#backend.resize({ numSlots, numStagingRows: 1, capacity: SMALL_CAPACITY });
    const rows: Row[] = [];
    for (const [slot, prompt] of prompts.entries()) rows.push(await this.#admit(prompt, slot));
    for (let step = 1; step < numTokens; step++) await this.#decode(rows);
    return rows.map(({ tokenIds }, i) => tokenIds.slice(prompts[i]?.promptTokenIds.length));
  }

  async #admit({ promptTokenIds }: ReferencePrompt, slot: number): Promise<Row> {
    const logits = await this.#prefill(promptTokenIds, 0);
    this.#backend.copyRows('staging', 'slots', [[0, slot]]);
    return { slot, tokenIds: [...promptTokenIds, argmax(logits)] };
  }

  async #prefill(tokenIds: readonly number[], startPosition: number): Promise<Float32Array> {
    await this.#backend.forward({
      target: 'staging',
      numRows: 1,
      tokensPerRow: tokenIds.length,
      ids: Int32Array.from(tokenIds),
      positions: Int32Array.from(tokenIds, (_, i) => startPosition + i),
      lastIndices: Int32Array.of(startPosition + tokenIds.length - 1),
    });
    return this.#backend.readLogits(1);
  }

  /** Feeds each row's last token and appends the likeliest next one. */
  async #decode(rows: readonly Row[]): Promise<void> {
    const numRows = Math.max(...rows.map(({ slot }) => slot)) + 1;
    const ids = new Int32Array(numRows);
    const positions = new Int32Array(numRows);
    for (const { slot, tokenIds } of rows) {
      ids[slot] = tokenIds.at(-1) ?? 0;
      positions[slot] = tokenIds.length - 1;
    }
    await this.#backend.forward({
      target: 'slots',
      numRows,
      tokensPerRow: 1,
      ids,
      positions,
      lastIndices: positions,
    });
    const logits = await this.#backend.readLogits(numRows);
    for (const { slot, tokenIds } of rows) {
      tokenIds.push(argmax(logits.subarray(slot * this.#vocabSize, (slot + 1) * this.#vocabSize)));
    }
  }
}

import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import promptReference from '../../../tools/reference/fixtures/prompt-logprobs-reference.json' with { type: 'json' };
import reference from '../../../tools/reference/fixtures/storyteller-reference.json' with { type: 'json' };
import type { KvSlot } from '../../batching/generation/kv-slots.ts';
import { readModel } from '../models/families/families.ts';
import { memoryFile } from '../models/formats/checkpoint-files.ts';
import { checkpointWeights } from '../models/checkpoint/convert-weights.ts';
import { planModel } from '../models/checkpoint/model-plan.ts';
import { openCheckpoint } from '../models/checkpoint/open-checkpoint.ts';
import { WASM } from '../models/checkpoint/test-support.ts';
import { scoreTokens } from '../runtime/score-tokens.ts';
import { runRows } from '../testing/cpu-rows.ts';
import { CpuBackend } from './cpu-backend.ts';

const MODEL_FOLDER = new URL('../../../public/models/storyteller/', import.meta.url);
const model = readModel(JSON.parse(readFileSync(new URL('config.json', MODEL_FOLDER), 'utf8')), undefined);
const { config } = model;

interface Row {
  readonly slot: number;
  readonly tokenId: number;
  /** Valid K/V entries before the step. */
  readonly length: number;
}

/** PyTorch's figures are the reference: the graph, the weights and the K/V cache are tested together. */
describe('CpuBackend on Storyteller', () => {
  let backend: CpuBackend;

  beforeAll(async () => {
    const checkpoint = await openCheckpoint({
      open: (name) => Promise.resolve(memoryFile(name, readFileSync(new URL(name, MODEL_FOLDER)))),
    });
    const plan = planModel(checkpoint, 'fp32', WASM);
    const packedModel = { model, ...checkpointWeights(checkpoint, plan) };
    backend = await CpuBackend.create(packedModel);
  });

  beforeEach(() => backend.resize({ numSlots: 4, numStagingRows: 1, capacity: 256, numSnapshots: 0 }));

  const prefill = (tokenIds: readonly number[], start = 0): Promise<Float32Array> =>
    runRows(backend, [{ tokenIds, start }], { target: 'staging' });

  async function decode(rows: readonly Row[]): Promise<Float32Array[]> {
    const numRows = Math.max(...rows.map(({ slot }) => slot)) + 1;
    const ids = new Int32Array(numRows);
    const positions = new Int32Array(numRows);
    for (const { slot, tokenId, length } of rows) {
      ids[slot] = tokenId;
      positions[slot] = length;
    }
    await backend.forward({
      target: 'slots',
      numRows,
      tokensPerRow: 1,
      ids,
      positions,
      lastIndices: positions,
    });
    const logits = await backend.readLogits(numRows);
    return rows.map(({ slot }) => logits.subarray(slot * config.vocabSize, (slot + 1) * config.vocabSize));
  }

  it.each([...reference.prompts, reference.longPrompt])(
    "gives PyTorch's logits for “$prompt”",
    async (expected) => {
      const logits = await prefill(expected.promptTokenIds);
      expect(largestDifference(logits, expected)).toBeLessThan(1e-3);
    },
  );

  it.each([[70, 71], [1], [3, 130], [64, 65, 66, 67]])(
    'gives the same logits to the bit for a prompt in chunks that end at %j',
    async (...ends) => {
      const { promptTokenIds } = reference.longPrompt;
      const whole = await prefill(promptTokenIds);
      expect(largestDifference(whole, reference.longPrompt)).toBeLessThan(1e-3);
      for (const [i, end] of ends.entries()) {
        const start = ends[i - 1] ?? 0;
        await prefill(promptTokenIds.slice(start, end), start);
      }
      const start = ends.at(-1) ?? 0;
      expect(await prefill(promptTokenIds.slice(start), start)).toEqual(whole);
    },
  );

  it('gives the logits of any tokens of a pass, those of the last one first', async () => {
    const { promptTokenIds } = reference.longPrompt;
    const logits = await runRows(backend, [{ tokenIds: promptTokenIds }], {
      target: 'staging',
      scoredTokens: Int32Array.of(0, 41, 3),
    });
    expect(logits).toHaveLength(4 * config.vocabSize);
    for (const [row, length] of [promptTokenIds.length, 1, 42, 4].entries()) {
      const alone = await prefill(promptTokenIds.slice(0, length));
      const ofRow = logits.subarray(row * config.vocabSize, (row + 1) * config.vocabSize);
      expect(Math.max(...alone.map((logit, id) => Math.abs(logit - (ofRow[id] ?? NaN))))).toBeLessThan(1e-3);
    }
  });

  it("finds PyTorch's prompt logprobs for a prompt that fills the context", async () => {
    const { tokenIds, logprobs } = promptReference.wholeContext;
    backend.resize({ numSlots: 1, numStagingRows: 1, capacity: config.contextLength, numSnapshots: 0 });
    const scoredTokens = Int32Array.from({ length: tokenIds.length - 1 }, (_, token) => token);
    const all = await runRows(backend, [{ tokenIds }], { target: 'staging', scoredTokens });
    const logits = all.subarray(config.vocabSize);
    const scores = await scoreTokens(logits, tokenIds.slice(1), 0);
    if (scores instanceof Error) throw scores;
    const expected = logprobs.slice(1).map((logprob) => Number(logprob));
    const differences = scores.map(({ logprob }, index) => Math.abs(logprob - (expected[index] ?? NaN)));
    expect(Math.max(...differences)).toBeLessThan(1e-3);
  });

  it('gives the same logits to the bit for prompts of different lengths in one pass', async () => {
    const prompts = [...reference.prompts, reference.longPrompt];
    backend.resize({ numSlots: 4, numStagingRows: prompts.length, capacity: 256, numSnapshots: 0 });
    const rows = prompts.map(({ promptTokenIds }) => ({ tokenIds: promptTokenIds }));
    const logits = await runRows(backend, rows, { target: 'staging' });
    for (const [row, expected] of prompts.entries()) {
      const ofRow = logits.subarray(row * config.vocabSize, (row + 1) * config.vocabSize);
      expect(largestDifference(ofRow, expected)).toBeLessThan(1e-3);
      expect(await prefill(expected.promptTokenIds)).toEqual(ofRow);
    }
  });

  it.each([49, 50, 51, 52])(
    "gives the same logits to the bit for a prompt behind %i tokens of another sequence's prefix",
    async (length) => {
      const { promptTokenIds } = reference.longPrompt;
      const whole = await prefill(promptTokenIds);
      await prefill([...promptTokenIds.slice(0, length), 7, 8, 9]);
      backend.copyRows('staging', 'slots', [[0, 2]]);
      await prefill([1, 2, 3]);
      backend.copyRows('slots', 'staging', [[2, 0]]);
      expect(await prefill(promptTokenIds.slice(length), length)).toEqual(whole);
    },
  );

  it('gives the same logits to the bit for a step alone, beside others, and in a larger cache', async () => {
    const [a, b] = [reference.prompts[1], reference.longPrompt];
    if (!a) throw new Error('The fixture has no prompts.');
    const lengthOf = ({ promptTokenIds }: typeof a): number => promptTokenIds.length;
    const step = { tokenId: a.greedyTokenIds[0] ?? 0, length: lengthOf(a) };
    const logitsIn = async (capacity: number, beside: readonly Row[]): Promise<Float32Array | undefined> => {
      backend.resize({ numSlots: 4, numStagingRows: 1, capacity, numSnapshots: 0 });
      const slot = beside.length;
      await prefill(a.promptTokenIds);
      backend.copyRows('staging', 'slots', [[0, slot]]);
      return (await decode([...beside, { slot, ...step }])).at(-1);
    };
    await prefill(b.promptTokenIds);
    backend.copyRows('staging', 'slots', [[0, 0]]);
    const other = { slot: 0, tokenId: 5, length: lengthOf(b) };
    const beside = await logitsIn(256, [other]);
    expect(await logitsIn(512, [other])).toEqual(beside);
    expect(await logitsIn(32, [])).toEqual(beside);
  });

  it("decodes PyTorch's greedy tokens with rows of different lengths, idle rows, moves, growth and shrinking", async () => {
    const [a, b] = [reference.prompts[1], reference.longPrompt];
    if (!a) throw new Error('The fixture has no prompts.');
    const generated: [number[], number[]] = [[], []];
    generated[0].push(argmax(await prefill(a.promptTokenIds)));
    backend.copyRows('staging', 'slots', [[0, 3]]);
    generated[1].push(argmax(await prefill(b.promptTokenIds)));
    backend.copyRows('staging', 'slots', [[0, 1]]);
    let slotOfA = 3;
    for (let step = 1; step < 32; step++) {
      if (step === 8) {
        backend.moveSlot(kvSlot(3), kvSlot(0));
        slotOfA = 0;
      }
      if (step === 16) backend.resize({ numSlots: 8, numStagingRows: 2, capacity: 512, numSnapshots: 0 });
      if (step === 24) backend.resize({ numSlots: 2, numStagingRows: 1, capacity: 192, numSnapshots: 0 });
      const [logitsOfA, logitsOfB] = await decode([
        { slot: slotOfA, tokenId: generated[0].at(-1) ?? 0, length: a.promptTokenIds.length + step - 1 },
        { slot: 1, tokenId: generated[1].at(-1) ?? 0, length: b.promptTokenIds.length + step - 1 },
      ]);
      generated[0].push(argmax(logitsOfA));
      generated[1].push(argmax(logitsOfB));
    }
    expect(generated).toEqual([a.greedyTokenIds, b.greedyTokenIds]);
  });

  it("decodes PyTorch's greedy tokens after prompts of different lengths that shared one pass", async () => {
    const prompts = reference.prompts.slice(0, 3);
    await runRows(
      backend,
      prompts.map(({ promptTokenIds }) => ({ tokenIds: promptTokenIds })),
    );
    const decoded: number[][] = prompts.map(() => []);
    for (let step = 0; step < 8; step++) {
      const logits = await decode(
        prompts.map(({ promptTokenIds, greedyTokenIds }, slot) => ({
          slot,
          tokenId: greedyTokenIds[step] ?? 0,
          length: promptTokenIds.length + step,
        })),
      );
      for (const [row, ofRow] of logits.entries()) decoded[row]?.push(argmax(ofRow));
    }
    expect(decoded).toEqual(prompts.map(({ greedyTokenIds }) => greedyTokenIds.slice(1, 9)));
  });

  it('lets other tasks in while one pass follows the other', async () => {
    const seen: string[] = [];
    setTimeout(() => seen.push('another task'));
    for (let pass = 0; seen.length === 0 && pass < 5000; pass++) {
      await decode([{ slot: 0, tokenId: 1, length: 1 }]);
    }
    expect(seen).toEqual(['another task']);
  });
});

interface Expected {
  readonly top20: { readonly ids: readonly number[]; readonly logits: readonly number[] };
}

/** Relative to the largest of the reference's logits. */
function largestDifference(logits: Float32Array, { top20 }: Expected): number {
  const scale = Math.max(...top20.logits.map(Math.abs));
  return (
    Math.max(...top20.ids.map((id, i) => Math.abs((logits[id] ?? NaN) - (top20.logits[i] ?? NaN)))) / scale
  );
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a brand has no other way in
const kvSlot = (slot: number) => slot as KvSlot;

function argmax(logits: Float32Array | undefined): number {
  return logits?.indexOf(Math.max(...logits)) ?? NaN;
}

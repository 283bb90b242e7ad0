import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { expect, it } from 'vitest';

import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { HOSTILE_SHAPES } from '../../testing/hostile-shapes.ts';
import { createRandom, RandomChoices } from '../../testing/random-choices.ts';
import { randomShape } from '../../testing/random-shapes.ts';
import { allowedBy, createShape, loadShapedModel } from './test-support.ts';
import { SEED, IS_WHOLE } from '../../../batching/testing/whole-run.ts';

/** Shapes at once. */
const GROUP = IS_WHOLE ? 200 : 100;
const NUM_GROUPS = IS_WHOLE ? 50 : 2;
/** In each group: all of them come in two groups. */
const NUM_HOSTILE = 20;
const NUM_TOKENS = 6;
/** Shapes keep some 250 MB in common. Leaks of 10,000 shapes would be several GB. */
const MAX_GROWTH = 0.5e9;

const model = await loadShapedModel();
const hostile = Object.entries(HOSTILE_SHAPES);

/** Follows a shape for some random tokens. Undefined; or the message of its refusal. */
async function follow(format: ResponseFormat, seed: number): Promise<string | undefined> {
  const choices = new RandomChoices(createRandom(seed));
  try {
    const shape = await createShape(model, format);
    for (let index = 0; index < NUM_TOKENS; index += 1) {
      const tokenId = choices.one(allowedBy(shape, model));
      if (model.config.eosTokenIds.includes(tokenId) || (await shape.accept(tokenId))) return undefined;
    }
    return undefined;
  } catch (error) {
    if (error instanceof ResponseFormatUnsupportedError) return error.message;
    throw error;
  }
}

/** Other tests share this process: their garbage doesn't count. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

/** The longest time, ms, in which no other task ran beside the work. */
async function longestPauseOf(work: Promise<unknown>): Promise<number> {
  const state = { isOver: false, lastMs: performance.now(), longestMs: 0 };
  const look = (): void => {
    state.longestMs = Math.max(state.longestMs, performance.now() - state.lastMs);
    state.lastMs = performance.now();
    if (!state.isOver) setImmediate(look);
  };
  setImmediate(look);
  await work;
  state.isOver = true;
  return state.longestMs;
}

it(`of ${NUM_GROUPS * GROUP} random shapes, ${GROUP} at a time, none is refused for the hostile ones among them, and memory is flat (SEED=${SEED})`, async () => {
  const refused: string[] = [];
  const before = heapInUse();
  const growths: number[] = [];
  let longestPauseMs = 0;
  for (let group = 0; group < NUM_GROUPS; group += 1) {
    const work = Array.from({ length: GROUP }, async (_, index) => {
      const seed = SEED + group * GROUP + index;
      const [, makeHostile] = hostile[(group * NUM_HOSTILE + index) % hostile.length] ?? [];
      if (index < NUM_HOSTILE && makeHostile) return void (await follow(makeHostile(), seed));
      const refusal = await follow(randomShape(seed), seed);
      if (refusal !== undefined) refused.push(`seed ${seed}: ${refusal}`);
    });
    longestPauseMs = Math.max(longestPauseMs, await longestPauseOf(Promise.all(work)));
    growths.push(heapInUse() - before);
  }
  const megabytes = growths.map((bytes) => Math.round(bytes / 1e6));
  console.log(`longest pause ${Math.round(longestPauseMs)} ms, heap + ${megabytes.join(', ')} MB`);
  expect(refused).toEqual([]);
  expect(Math.max(...growths)).toBeLessThan(MAX_GROWTH);
}, 3_600_000);

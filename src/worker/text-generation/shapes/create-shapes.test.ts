import { expect, it, vi } from 'vitest';

import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { createShapes } from './create-shapes.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { States } from './states.ts';
import { accepts, allowedBy, createShape, loadShapedModel } from './test-support.ts';

const choiceOf = (text: string): ResponseFormat => ({ type: 'choice', choices: [text] });

it('a vocabulary whose preparation failed is prepared again for the next shape', async () => {
  const model = await loadShapedModel();
  vi.spyOn(ShapeCompiler, 'create').mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const format = { type: 'choice', choices: ['yes', 'no'] } as const;
  await expect(createShapes(format, model, [[]])).rejects.toThrow('Failed to fetch');
  await expect(createShapes(format, model, [[]])).resolves.toHaveLength(1);
});

it('between two steps of a running text, the first shapes cost 4096 tokens at most', async () => {
  const model = await loadShapedModel(40_000);
  const bytesOf = vi.spyOn(model.tokenizer.vocabulary, 'bytesOf');
  const ready = Promise.all(['a', 'b', 'c'].map((text) => createShape(model, choiceOf(text))));
  const progress = { isReady: false };
  const watched = ready.then(() => (progress.isReady = true));
  const gaps: number[] = [];
  while (!progress.isReady) {
    const before = bytesOf.mock.calls.length;
    await yieldToHost();
    gaps.push(bytesOf.mock.calls.length - before);
  }
  await watched;
  expect(gaps.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(40_000);
  expect(Math.max(...gaps)).toBeLessThanOrEqual(4096);
});

it('32 compiled shapes are kept: another one drops the least recently used, whose texts go on', async () => {
  const model = await loadShapedModel();
  const compile = vi.spyOn(States.prototype, 'stateOf');
  const numCompiled = async (text: string): Promise<number> => {
    const before = compile.mock.calls.length;
    await createShape(model, choiceOf(text));
    return compile.mock.calls.length - before;
  };
  await createShape(model, choiceOf('text 0'));
  const second = await createShape(model, choiceOf('text 1'));
  for (let index = 2; index < 32; index += 1) await createShape(model, choiceOf(`text ${index}`));
  expect(await numCompiled('text 0')).toBe(0);
  expect(await numCompiled('text 32')).toBe(1);
  expect(await accepts(model, second, 'text 1')).toBe(true);
  expect(await numCompiled('text 0')).toBe(0);
  expect(await numCompiled('text 1')).toBe(1);
});

it('a text may have a special token as a part of it where its tokenizer shows that', async () => {
  const { config, tokenizer } = await loadShapedModel(0, ['[CALLS]']);
  const format: ResponseFormat = { type: 'regex', pattern: '\\[CALLS\\][ab]' };
  const special = config.vocabSize - 1;
  const shownAs = async (tokens: readonly string[]): Promise<readonly number[]> => {
    const model = { config, tokenizer: tokenizer.withTokens(tokens) };
    return allowedBy(await createShape(model, format), model);
  };
  expect(await shownAs(['[CALLS]'])).toContain(special);
  expect(await shownAs([])).not.toContain(special);
});

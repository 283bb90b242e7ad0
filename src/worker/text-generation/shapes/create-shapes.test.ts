import { expect, it, vi } from 'vitest';

import type { ResponseFormat } from '../../../batching/generation/response-format.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { createShapes } from './create-shapes.ts';
import { loadGrammarLibrary } from './grammar-library.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { accepts, createShape, loadShapedModel } from './test-support.ts';

const { library } = await loadGrammarLibrary();
const { Grammar, GrammarCompiler, TokenizerInfo } = library;

const choiceOf = (text: string): ResponseFormat => ({ type: 'choice', choices: [text] });

it('a vocabulary whose preparation failed is prepared again for the next shape', async () => {
  const model = await loadShapedModel();
  vi.spyOn(ShapeCompiler, 'create').mockRejectedValueOnce(new TypeError('Failed to fetch'));
  const format = { type: 'choice', choices: ['yes', 'no'] } as const;
  await expect(createShapes(format, model, [[]])).rejects.toThrow('Failed to fetch');
  await expect(createShapes(format, model, [[]])).resolves.toHaveLength(1);
});

it('between two steps of a running text, the first shapes cost one call of the library or 4096 tokens at most', async () => {
  const model = await loadShapedModel(40_000);
  const bytesOf = vi.spyOn(model.tokenizer.vocabulary, 'bytesOf');
  const calls = [
    vi.spyOn(TokenizerInfo, 'createTokenizerInfo'),
    vi.spyOn(Grammar, 'fromEBNF'),
    vi.spyOn(GrammarCompiler.prototype, 'compileGrammar'),
  ];
  const numCalls = (): number => calls.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  const shapes = ['a', 'b', 'c'].map((text) => createShape(model, choiceOf(text)));
  let isReady = false;
  const ready = Promise.all(shapes).then(() => (isReady = true));
  const gaps: { readonly tokens: number; readonly calls: number }[] = [];
  while (!isReady) {
    const before = { tokens: bytesOf.mock.calls.length, calls: numCalls() };
    await yieldToHost();
    gaps.push({ tokens: bytesOf.mock.calls.length - before.tokens, calls: numCalls() - before.calls });
  }
  await ready;
  expect(numCalls()).toBe(7);
  expect(Math.max(...gaps.map((gap) => gap.calls))).toBe(1);
  expect(Math.max(...gaps.map(({ tokens }) => tokens))).toBeLessThanOrEqual(4096);
  expect(gaps.filter((gap) => gap.calls > 0 && gap.tokens > 0)).toEqual([]);
});

it('32 compiled shapes are kept: another one disposes of the least recently used, whose texts go on', async () => {
  const model = await loadShapedModel();
  const compile = vi.spyOn(GrammarCompiler.prototype, 'compileGrammar');
  await createShape(model, choiceOf('text 0'));
  const second = await createShape(model, choiceOf('text 1'));
  const dispose = vi.spyOn(await compile.mock.results[1]?.value, 'dispose');
  for (let index = 2; index < 32; index += 1) await createShape(model, choiceOf(`text ${index}`));
  await createShape(model, choiceOf('text 0'));
  expect(compile).toHaveBeenCalledTimes(32);
  expect(dispose).not.toHaveBeenCalled();
  await createShape(model, choiceOf('text 32'));
  expect(dispose).toHaveBeenCalledTimes(1);
  expect(await accepts(model, second, 'text 1')).toBe(true);
  await createShape(model, choiceOf('text 0'));
  expect(compile).toHaveBeenCalledTimes(33);
  await createShape(model, choiceOf('text 1'));
  expect(compile).toHaveBeenCalledTimes(34);
});

import { describe, expect, it } from 'vitest';

import type { ResponseFormat, StructuralPart } from '../../../batching/options/response-format.ts';
import { yieldToHost } from '../../../platform/yield-to-host.ts';
import { createClientId, createRequestId } from '../../../protocol/ids.ts';
import { runToEnd } from '../../test-support.ts';
import { createGenerator, resultIn } from '../test-support.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { ShapeMatcher } from './shape-matcher.ts';
import { accepts, createShape, loadShapedModel } from './test-support.ts';

const model = await loadShapedModel();

/** Something inside itself. */
function nested<Part>(depth: number, inner: Part, around: (part: Part) => Part): Part {
  return Array.from({ length: depth }).reduce<Part>((part) => around(part), inner);
}

const groups = (depth: number): string => nested(depth, 'a', (part) => `(${part})`);
const objects = (depth: number) =>
  nested<object>(depth, { type: 'null' }, (a) => ({ type: 'object', properties: { a } }));
const rules = (count: number): string =>
  Array.from({ length: count }, (_, index) => `r${index} ::= "a" | r${(index + 1) % count}`).join('\n');
const circle = (count: number): ResponseFormat => ({
  type: 'grammar',
  grammar: `root ::= r0\n${rules(count)}`,
});
const PART: StructuralPart = { type: 'const_string', value: 'a' };
const sequences = (depth: number): StructuralPart =>
  nested<StructuralPart>(depth, PART, (part) => ({ type: 'sequence', elements: [part] }));

const tooDeep: readonly (readonly [string, ResponseFormat])[] = [
  ['groups of a pattern', { type: 'regex', pattern: groups(160) }],
  ['many more of them', { type: 'regex', pattern: groups(2000) }],
  ['groups of a grammar', { type: 'grammar', grammar: `root ::= ${groups(160).replace('a', '"a"')}` }],
  ['objects', { type: 'json_schema', schema: { ...objects(100) } }],
  ['many more of them', { type: 'json_schema', schema: { ...objects(500) } }],
  [
    'lists of choices',
    { type: 'json_schema', schema: { ...nested<object>(500, {}, (a) => ({ anyOf: [a] })) } },
  ],
  ['parts of a tag', { type: 'structural_tag', format: sequences(500) }],
];

describe('parts inside each other', () => {
  it.each(tooDeep)('are refused by the limit of 64: %s', async (_, format) => {
    await expect(createShape(model, format)).rejects.toMatchObject({
      code: 'RESPONSE_FORMAT_UNSUPPORTED',
      message: expect.stringContaining('64'),
    });
    // The next shape of anybody is compiled.
    expect(await accepts(model, await createShape(model, { type: 'json_object' }), '{"a": [1]}')).toBe(true);
  });

  it('are followed below it', async () => {
    const shape = await createShape(model, { type: 'regex', pattern: groups(60) });
    expect(await accepts(model, shape, 'a')).toBe(true);
    const json = nested(30, 'null', (part) => `{"a": ${part}}`);
    const object = await createShape(model, { type: 'json_schema', schema: { ...objects(30) } });
    expect(await accepts(model, object, json)).toBe(true);
  });
});

it('a circle of 2500 rules is refused, and one of 1000 compiled, while other work goes on', async () => {
  await expect(createShape(model, circle(2500))).rejects.toMatchObject({
    code: 'RESPONSE_FORMAT_UNSUPPORTED',
  });
  const progress = { isReady: false, longestMs: 0 };
  const ready = createShape(model, circle(999)).finally(() => (progress.isReady = true));
  while (!progress.isReady) {
    const startedAtMs = performance.now();
    await yieldToHost();
    progress.longestMs = Math.max(progress.longestMs, performance.now() - startedAtMs);
  }
  expect(await accepts(model, await ready, 'a')).toBe(true);
  console.log(`the longest pause of ${progress.longestMs.toFixed(0)} ms`);
});

it('a choice of more than 5000 is refused, wherever in a shape it stands', async () => {
  const choices = Array.from({ length: 5001 }, (_, index) => `"w${index}"`);
  const grammar = `root ::= [a-z]{40} (${choices.join(' | ')})`;
  await expect(createShape(model, { type: 'grammar', grammar })).rejects.toMatchObject({
    code: 'RESPONSE_FORMAT_UNSUPPORTED',
    message: expect.stringContaining('5000'),
  });
  const format: ResponseFormat = { type: 'grammar', grammar: grammar.replace('"w0" | ', '') };
  await expect(createShape(model, format)).resolves.toBeDefined();
});

it('a text that comes to more ways than can be followed fails by that name, and the others of its batch end', async () => {
  const { generator, updates, submit, whenEnded } = createGenerator();
  const pattern = `[a-z]{3}${'c?'.repeat(5001)}`;
  const shaped = {
    requestId: createRequestId(),
    clientId: createClientId(),
    input: 'a',
    options: { responseFormat: { type: 'regex', pattern }, maxNewTokens: 9 },
    elapsedMs: 0,
  };
  const shapes = await generator.prepare([shaped]);
  runToEnd(generator.readAll([shaped], shapes)).value();
  const other = submit('a', { maxNewTokens: 9 });
  await Promise.all([whenEnded(shaped.requestId), whenEnded(other)]);
  expect(
    updates.find(({ requestId, type }) => requestId === shaped.requestId && type === 'failed'),
  ).toMatchObject({
    error: {
      code: 'STOP_CONDITION_FAILED',
      message: expect.stringContaining('can be read in more than 5000 ways at once'),
    },
  });
  expect(resultIn(updates)).toMatchObject({ text: 'abcdefghij', finishReason: 'length' });
});

it('a text that keeps too many ways in memory fails by that name, and the next shape begins without them', async () => {
  const compiler = await ShapeCompiler.create(model);
  const format: ResponseFormat = { type: 'regex', pattern: '.*a.{3000}' };
  const compiled = await compiler.compile(format);
  const shape = await ShapeMatcher.create(compiled, model, format);
  const [tokenId = 0] = model.tokenizer.encode('a', false).slice(-1);
  const { states } = compiled.room;
  await expect(
    (async () => {
      for (let index = 0; index < 3000; index += 1) await shape.accept(tokenId);
    })(),
  ).rejects.toMatchObject({
    code: 'RESPONSE_FORMAT_UNSUPPORTED',
    message: expect.stringContaining('too much memory'),
  });
  expect(states.numWaysKept).toBeLessThan(11_000_000);
  const next = await compiler.compile({ type: 'json_object' });
  expect(next.room.states.numWaysKept).toBeLessThan(10_000);
}, 120_000);

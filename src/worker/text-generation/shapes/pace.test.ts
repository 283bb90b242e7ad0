import { afterEach, expect, it, vi } from 'vitest';

import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import { HOSTILE_SHAPES } from '../../testing/hostile-shapes.ts';
import { createRandom, RandomChoices } from '../../testing/random-choices.ts';
import { ShapeCompiler } from './shape-compiler.ts';
import { ShapeMatcher } from './shape-matcher.ts';
import { allowedBy, loadShapedModel } from './test-support.ts';

/** Expressions that are made, and ways that are looked at: some milliseconds. */
const MAX_UNITS = 12_000;
const NUM_TOKENS = 4;

const words = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `w${index}`);
const schemaOf = (schema: Record<string, unknown>): ResponseFormat => ({ type: 'json_schema', schema });
const objectOf = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, true]));

const LARGE_SHAPES: Readonly<Record<string, () => ResponseFormat>> = {
  'a text that goes on for long': () => ({ type: 'choice', choices: ['x'.repeat(50_000), 'y'] }),
  '4,000 choices': () => ({ type: 'choice', choices: words(4000) }),
  'a long beginning': () => ({ type: 'json_object', prefix: `{"a": ${'['.repeat(5000)}` }),
  '100 names by a pattern': () =>
    schemaOf({
      type: 'object',
      patternProperties: objectOf(words(100).map((word) => `^${word}-`)),
      additionalProperties: false,
    }),
  '1,000 names that fit a pattern': () =>
    schemaOf({
      type: 'object',
      propertyNames: { pattern: '^w[0-9]{1,4}$' },
      properties: objectOf(words(1000)),
      additionalProperties: true,
    }),
  '8,000 required names': () =>
    schemaOf({ type: 'object', required: words(8000), additionalProperties: true }),
  'a long text in 60 groups': () => ({
    type: 'regex',
    pattern: `${'('.repeat(60)}${'a'.repeat(60_000)}${')'.repeat(60)}`,
  }),
  'a set of 4,900 characters': () => ({
    type: 'regex',
    pattern: `[${Array.from({ length: 4900 }, (_, index) => String.fromCodePoint(0x4e00 + 2 * index)).join('')}]{1,100}`,
  }),
  'a pattern of 3,000 groups': () => ({
    type: 'regex',
    pattern: words(3000)
      .map((word) => `(${word}|b)`)
      .join(''),
  }),
  'many unique values': () =>
    schemaOf({ type: 'array', items: { enum: words(45) }, uniqueItems: true, maxItems: 2 }),
  'a long end of free text': () => ({
    type: 'structural_tag',
    format: { type: 'tag', begin: '<', content: { type: 'any_text' }, end: 'ab'.repeat(3000) },
  }),
  '30 rules that begin with each other': () => ({
    type: 'grammar',
    grammar: ['root ::= w0', ...words(30).map((name) => `${name} ::= ${beginnings()} | "${name}"`)].join(
      '\n',
    ),
  }),
};

function beginnings(): string {
  return words(30)
    .map((other, index) => `${other} "x${index}"`)
    .join(' | ');
}

afterEach(() => vi.restoreAllMocks());

const model = await loadShapedModel();

it.each(Object.entries({ ...HOSTILE_SHAPES, ...LARGE_SHAPES }))(
  'is compiled and followed in small parts, each of which asks for the time: %s',
  async (_, makeShape) => {
    const compiler = await ShapeCompiler.create(model);
    const { room } = await compiler.compile({ type: 'json_object' });
    const choices = new RandomChoices(createRandom(1));
    const seen = { units: 0, most: 0 };
    const count = (): void => {
      const units = room.states.make.size + room.states.numWaysSeen;
      seen.most = Math.max(seen.most, units - seen.units);
      seen.units = units;
    };
    count();
    seen.most = 0;
    const startedAtMs = performance.now();
    vi.spyOn(performance, 'now').mockImplementation(() => {
      count();
      return startedAtMs;
    });
    try {
      const format = makeShape();
      const shape = await ShapeMatcher.create(await compiler.compile(format), model, format);
      for (let index = 0; index < NUM_TOKENS; index += 1) {
        const tokenId = choices.one(allowedBy(shape, model));
        if (model.config.eosTokenIds.includes(tokenId) || (await shape.accept(tokenId))) break;
      }
    } catch (error) {
      if (!(error instanceof ResponseFormatUnsupportedError)) throw error;
    }
    count();
    expect(seen.most).toBeLessThanOrEqual(MAX_UNITS);
  },
  60_000,
);

it('a small shape is ready before a large one that was asked for earlier', async () => {
  const compiler = await ShapeCompiler.create(model);
  const ready: string[] = [];
  const compile = async (name: string, format: ResponseFormat): Promise<void> => {
    await ShapeMatcher.create(await compiler.compile(format), model, format);
    ready.push(name);
  };
  const large: ResponseFormat = { type: 'json_object', prefix: `{"a": ${'['.repeat(20_000)}` };
  await Promise.all([compile('large', large), compile('small', { type: 'choice', choices: ['yes', 'no'] })]);
  expect(ready).toEqual(['small', 'large']);
});

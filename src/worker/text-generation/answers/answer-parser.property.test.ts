import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { GenerationTool } from '../../../batching/options/tools.ts';
import { joinParts, type Answer } from '../../../protocol/answers.ts';
import { AnswerParser } from './answer-parser.ts';
import type { AnswerSyntax } from './answer-syntax.ts';
import { FAMILIES, syntaxOf, toolsOf, type Call } from './test-support.ts';
import { runsOf } from '../../../batching/testing/whole-run.ts';

const words = fc.constantFrom('Hm', ' so', '\n', ' <', ' [', ' {', ' "a"', ' </', ' \u{1F600}', '!');
const prose = fc
  .array(words, { minLength: 1, maxLength: 8 })
  .map((list) => list.join('').trim())
  .filter((text) => text !== '');
const name = fc
  .string({ unit: fc.constantFrom('a', 'Z', '_', '-', '7'), maxLength: 7 })
  .map((rest) => `n${rest}`);
const signs = ['a', '"', "'", '\\', '}', '{', ')', ']', ',', ':', '\n', 'é', '<', '/', 'e', '\u{1F600}'];
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: fc.constantFrom(...signs) }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const call: fc.Arbitrary<Call> = fc.record({
  name,
  input: fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }),
});
const callsOf = (minLength: number) =>
  fc.uniqueArray(call, { minLength, maxLength: 3, selector: (each) => each.name });
/** Parts of marks, and what is between them. */
const SCRAPS = [
  '<think>',
  '</think>',
  '<escape>',
  '<parameter=a>',
  '\n</parameter>\n',
  ...Array.from('<{}[)=":,a \n\\\u{1F600}'),
];
const cuts = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 6 });

function parse(
  syntax: AnswerSyntax,
  pieces: readonly string[],
  { tools = [], isCut = false }: { tools?: readonly GenerationTool[]; isCut?: boolean } = {},
): Answer {
  const parser = new AnswerParser({ syntax, tools, idOf: (index) => `call-${index}` });
  return joinParts([...pieces.flatMap((piece) => parser.push(piece)), ...parser.end(isCut)]);
}

/** Cuts a text into pieces of these lengths, again and again. */
function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let [at, turn] = [0, 0]; at < text.length; turn += 1) {
    const end = at + Math.max(1, lengths[turn % lengths.length] ?? 1);
    pieces.push(text.slice(at, end));
    at = end;
  }
  return pieces;
}

const read = ({ toolCalls }: Answer) =>
  toolCalls.map(({ id, name: called, arguments: json }) => ({ id, name: called, input: JSON.parse(json) }));
const numbered = (calls: readonly Call[]) => calls.map((each, index) => ({ id: `call-${index}`, ...each }));

describe.each(FAMILIES)('an answer of $family', (family) => {
  const { write } = family;
  const tools = syntaxOf(family);

  it('gives its reasoning, content and calls, however its text is cut', () => {
    fc.assert(
      fc.property(
        fc.option(prose, { nil: '' }),
        fc.option(prose, { nil: '' }),
        callsOf(0),
        cuts,
        fc.boolean(),
        (reasoning, content, calls, lengths, isBegun) => {
          const thinking = isBegun ? 'begun' : 'optional';
          const thought =
            isBegun || reasoning !== '' ? `${isBegun ? '' : '<think>'}\n${reasoning}\n</think>\n\n` : '';
          const text = `${thought}${content}${calls.map((each) => `\n${write([each])}`).join('')}`;
          const answer = parse({ thinking, tools }, cut(text, lengths), { tools: toolsOf(calls) });
          expect(answer).toMatchObject({ reasoning, content });
          expect(read(answer)).toEqual(numbered(calls));
        },
      ),
      { numRuns: runsOf({ whole: 300, part: 100 }) },
    );
  });

  it('has text before, between and behind its calls', () => {
    fc.assert(
      fc.property(prose, prose, callsOf(1), cuts, (before, behind, calls, lengths) => {
        const text = `${before}\n${calls.map((each) => write([each])).join(`\n${behind}\n`)}\n${behind}`;
        const answer = parse({ thinking: 'never', tools }, cut(text, lengths), { tools: toolsOf(calls) });
        expect(answer.content).toBe(`${before}${behind.repeat(calls.length)}`);
        expect(read(answer)).toEqual(numbered(calls));
      }),
      { numRuns: runsOf({ whole: 100, part: 40 }) },
    );
  });

  it('has several calls in one list', () => {
    fc.assert(
      fc.property(callsOf(2), cuts, (calls, lengths) => {
        const answer = parse({ thinking: 'never', tools }, cut(write(calls), lengths), {
          tools: toolsOf(calls),
        });
        expect(read(answer)).toEqual(numbered(calls));
        expect(answer.content).toBe('');
      }),
      { numRuns: runsOf({ whole: 100, part: 40 }) },
    );
  });

  it('that the limit of tokens cuts has no markup in its content, wherever it is cut', () => {
    fc.assert(
      fc.property(prose, call, fc.nat(), (content, made, seed) => {
        const written = write([made]);
        // One character may be text.
        const length = 2 + (seed % (written.length - 1));
        const text = `${content}\n${written.slice(0, length)}`;
        const { content: found, toolCalls } = parse({ thinking: 'never', tools }, Array.from(text), {
          tools: toolsOf([made]),
          isCut: true,
        });
        expect(found).toBe(content);
        expect([[], [made.name]]).toContainEqual(toolCalls.map(({ name: called }) => called));
      }),
      { numRuns: runsOf({ whole: 300, part: 100 }) },
    );
  });

  it('that ends by itself keeps a text that resembles a call', () => {
    const { trigger = '' } = tools.written.begins[0] ?? {};
    const text = `so ${trigger.slice(0, -1)}`;
    expect(parse({ thinking: 'never', tools }, [text]).content).toBe(text);
    expect(parse({ thinking: 'never', tools }, [text.slice(0, 4)], { isCut: true }).content).toBe(
      text.slice(0, 4),
    );
  });

  it('is the same at once and character by character, whatever the model writes', () => {
    const { written, opening, bareBegin = '', close } = tools;
    const begins = written.begins.map(({ text }) => text);
    const { begin = '', end = '' } = written.list ?? {};
    const marks = [...begins, written.middle, written.end, begin, end, opening, bareBegin, close];
    const scrap = fc.constantFrom(...marks, ...SCRAPS);
    fc.assert(
      fc.property(
        fc.array(scrap, { maxLength: 14 }).map((scraps) => scraps.join('')),
        fc.constantFrom('never', 'optional', 'begun' as const),
        fc.boolean(),
        (text, thinking, isCut) => {
          const options = { tools: [{ name: 'a' }], isCut };
          const whole = parse({ thinking, tools }, [text], options);
          expect(parse({ thinking, tools }, Array.from(text), options)).toEqual(whole);
        },
      ),
      { numRuns: runsOf({ whole: 800, part: 200 }) },
    );
  });
});

it('an answer without tools keeps all its text behind the thinking', () => {
  const text = ' <think> a </think>\n\n{"name": "b", "parameters": {}} ';
  expect(parse({ thinking: 'optional', tools: undefined }, Array.from(text))).toEqual({
    reasoning: 'a',
    content: '{"name": "b", "parameters": {}} ',
    toolCalls: [],
  });
});

it.each([
  ['optional', '<think', '', ''],
  ['optional', '<think>a</thi', 'a', ''],
  ['begun', 'a</think', 'a', ''],
  ['begun', 'a <', 'a <', ''],
] as const)('thinking that the limit cuts has no markup: %s %s', (thinking, text, reasoning, content) => {
  expect(parse({ thinking, tools: undefined }, Array.from(text), { isCut: true })).toEqual({
    reasoning,
    content,
    toolCalls: [],
  });
});

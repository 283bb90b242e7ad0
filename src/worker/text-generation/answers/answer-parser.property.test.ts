import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { joinParts, type Answer } from '../../../protocol/answers.ts';
import { AnswerParser, type AnswerSyntax } from './answer-parser.ts';
import { toolSyntaxOf } from './tool-syntax.ts';

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** What a family's template and calls look like, written here by hand. */
const FAMILIES = [
  {
    name: 'Qwen',
    template: '{{ tools }} <tool_call>',
    write: ({ name, input }: Call) =>
      `<tool_call>\n{"name": "${name}", "arguments": ${JSON.stringify(input)}}\n</tool_call>`,
  },
  {
    name: 'Llama',
    template: '{{ tools }} {"name": function name, "parameters": dictionary}',
    write: ({ name, input }: Call) => `{"name": "${name}", "parameters": ${JSON.stringify(input)}}`,
  },
  {
    name: 'FunctionGemma',
    template: '{{ tools }} <start_function_call>',
    write: ({ name, input }: Call) =>
      `<start_function_call>call:${name}${writeGemma(input)}<end_function_call>`,
  },
] as const;

function writeGemma(value: unknown): string {
  if (typeof value === 'string') return `<escape>${value}<escape>`;
  if (Array.isArray(value)) return `[${value.map(writeGemma).join(',')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${key}:${writeGemma(inner)}`)
    .join(',')}}`;
}

const words = fc.constantFrom('Hm', ' so', '\n', ' <', ' {', ' "a"', ' </', ' \u{1F600}', '!');
const prose = fc
  .array(words, { minLength: 1, maxLength: 8 })
  .map((list) => list.join('').trim())
  .filter((text) => text !== '');
const name = fc.string({ unit: fc.constantFrom('a', 'Z', '_', '-', '7'), minLength: 1, maxLength: 8 });
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ unit: fc.constantFrom('a', '"', '\\', '}', '{', ']', ',', ':', '\n', 'é', '<', '/', 'e') }),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const call = fc.record({ name, input: fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: true }) });
const cuts = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 6 });

function parse(syntax: AnswerSyntax, pieces: readonly string[], isCut = false): Answer {
  const parser = new AnswerParser(syntax, (index) => `call-${index}`);
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

describe.each(FAMILIES)('an answer of $name', ({ template, write }) => {
  const tools = toolSyntaxOf(template);

  it('gives its reasoning, content and calls, however its text is cut', () => {
    fc.assert(
      fc.property(
        fc.option(prose, { nil: '' }),
        fc.option(prose, { nil: '' }),
        fc.array(call, { maxLength: 3 }),
        cuts,
        fc.boolean(),
        (reasoning, content, calls, lengths, isBegun) => {
          const thinking = isBegun ? 'begun' : 'optional';
          const thought =
            isBegun || reasoning !== '' ? `${isBegun ? '' : '<think>'}\n${reasoning}\n</think>\n\n` : '';
          const text = `${thought}${content}${calls.map((each) => `\n${write(each)}`).join('')}`;
          const answer = parse({ thinking, tools }, cut(text, lengths));
          expect({
            ...answer,
            toolCalls: answer.toolCalls.map((each) => JSON.parse(each.arguments)),
          }).toEqual({
            reasoning,
            content,
            toolCalls: calls.map(({ input }) => input),
          });
          expect(answer.toolCalls.map(({ id, name: called }) => [id, called])).toEqual(
            calls.map(({ name: called }, index) => [`call-${index}`, called]),
          );
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('that the limit of tokens cuts has no markup in its content, wherever it is cut', () => {
    fc.assert(
      fc.property(prose, call, fc.nat(), (content, made, seed) => {
        const written = write(made);
        // One character may be text.
        const length = 2 + (seed % (written.length - 1));
        const text = `${content}\n${written.slice(0, length)}`;
        const { content: read, toolCalls } = parse({ thinking: 'never', tools }, Array.from(text), true);
        expect(read).toBe(content);
        expect([[], [made.name]]).toContainEqual(toolCalls.map(({ name: called }) => called));
      }),
      { numRuns: 1000 },
    );
  });

  it('that ends by itself keeps a text that resembles a call', () => {
    const text = `so ${tools?.trigger.slice(0, -1)}`;
    expect(parse({ thinking: 'never', tools }, [text]).content).toBe(text);
    expect(parse({ thinking: 'never', tools }, [text.slice(0, 4)], true).content).toBe(text.slice(0, 4));
  });

  it('is the same at once and character by character, whatever the model writes', () => {
    const scrap = fc.constantFrom(
      '<think>',
      '</think>',
      tools?.begin ?? '',
      tools?.middle ?? '',
      tools?.end ?? '',
      '<escape>',
      '<',
      '{',
      '}',
      '"',
      ':',
      ',',
      'a',
      ' ',
      '\n',
    );
    fc.assert(
      fc.property(
        fc.array(scrap, { maxLength: 14 }).map((scraps) => scraps.join('')),
        fc.constantFrom('never', 'optional', 'begun' as const),
        (text, thinking) => {
          expect(parse({ thinking, tools }, Array.from(text))).toEqual(parse({ thinking, tools }, [text]));
        },
      ),
      { numRuns: 2000 },
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
  expect(parse({ thinking, tools: undefined }, Array.from(text), true)).toEqual({
    reasoning,
    content,
    toolCalls: [],
  });
});

it.each([
  ['{{ messages }}', 'no tools'],
  ['{{ tools }} [TOOL_CALLS]', 'calls of another form'],
  ['{{ tools }} <tool_call><function=a>', 'calls in XML'],
])('a template takes no tools: %s', (template) => {
  expect(toolSyntaxOf(template)).toBeUndefined();
});

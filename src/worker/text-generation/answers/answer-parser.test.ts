import { describe, expect, it, vi } from 'vitest';

import type { GenerationTool } from '../../../batching/options/tools.ts';
import { joinParts, type AnswerPart } from '../../../protocol/answers.ts';
import { AnswerParser } from './answer-parser.ts';
import type { AnswerSyntax } from './answer-syntax.ts';
import { FAMILIES, syntaxOf } from './test-support.ts';

const TOOLS: readonly GenerationTool[] = [
  {
    name: 'book',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        nights: { type: 'integer' },
        price: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        quiet: { type: 'boolean' },
        note: { type: ['string', 'null'] },
        rooms: { $ref: '#/$defs/rooms' },
        any: {},
      },
      $defs: { rooms: { type: 'array', items: { type: 'integer' } } },
    },
  },
  { name: 'now' },
];

function parserOf(family: string, given: Partial<AnswerSyntax> = {}): AnswerParser {
  const found = FAMILIES.find((each) => each.family === family);
  if (!found) throw new Error(`no ${family}`);
  const syntax = { thinking: 'never', tools: syntaxOf(found), ...given } as const;
  return new AnswerParser({ syntax, tools: TOOLS, idOf: String });
}

function partsOf(family: string, text: string, given: Partial<AnswerSyntax> = {}, isCut = false) {
  const parser = parserOf(family, given);
  const parts: readonly AnswerPart[] = [
    ...Array.from(text).flatMap((letter) => parser.push(letter)),
    ...parser.end(isCut),
  ];
  const { content, reasoning, toolCalls } = joinParts(parts);
  return { content, reasoning, calls: toolCalls.map((call) => `${call.name}${call.arguments}`), parts };
}

function callsOf(family: string, pieces: readonly string[]): readonly string[] {
  const parser = parserOf(family);
  const parts = [...pieces.flatMap((piece) => parser.push(piece)), ...parser.end()];
  return joinParts(parts).toolCalls.map((call) => call.name + call.arguments);
}

describe('reads what models write in their form of calls', () => {
  it.each([
    ['Qwen 3', '<tool_call>{"name":"book","arguments":{"city":"Rome"}}</tool_call>', ['book{"city":"Rome"}']],
    [
      'Qwen 3',
      '<tool_call>\n{"arguments": {"city": "a } b"}, "name": "book"}\n</tool_call>',
      ['book{"city": "a } b"}'],
    ],
    [
      'Qwen 3',
      '<tool_call>{"name": "now", "arguments": {}}</tool_call><tool_call>{"name": "now", "arguments": {}}</tool_call>',
      ['now{}', 'now{}'],
    ],
    ['Llama 3', '<|python_tag|>{"name": "now", "parameters": {}}', ['now{}']],
    [
      'Llama 3',
      '<|python_tag|>{\n  "type": "function",\n  "name": "book",\n  "parameters": {"nights": 2}\n}',
      ['book{"nights": 2}'],
    ],
    ['Llama 3', '{"name": "book", "arguments": {"nights": 2}}', ['book{"nights": 2}']],
    ['Ministral 3', '[TOOL_CALLS]book{"nights": 2}', ['book{"nights": 2}']],
    ['Ministral 3', '[TOOL_CALLS]now[CALL_ID]a1B2c3D4e[ARGS]{}[TOOL_CALLS]now[ARGS]{}', ['now{}', 'now{}']],
    ['Mistral 7B', '[TOOL_CALLS][{"name": "now", "arguments": {}, "id": "a1B2c3D4e"}]', ['now{}']],
    ['Mistral 7B', '[TOOL_CALLS]now[ARGS]{}', ['now{}']],
    [
      'LFM2',
      `<|tool_call_start|>[book(city='O\\'Hare "x"', nights=1_000, price=.5, rooms=(1, 2,),), now()]<|tool_call_end|>`,
      ['book{"city":"O\'Hare \\"x\\"","nights":1000,"price":0.5,"rooms":[1,2]}', 'now{}'],
    ],
    [
      'LFM2',
      `<|tool_call_start|>[book(any={"a": True, 'b': [None, -1e3]}, note="""two\nlines""", city="\\u00fc\\x41\\U0001F600\\q")]`,
      ['book{"any":{"a":true,"b":[null,-1e3]},"note":"two\\nlines","city":"\\u00fc\\u0041\u{1F600}\\\\q"}'],
    ],
    ['LFM2', '<|tool_call_start|>[{"name": "now", "arguments": {}}]<|tool_call_end|>', ['now{}']],
    ['LFM2', '<|tool_call_start|>now()<|tool_call_end|>', ['now{}']],
    [
      'OLMo 3',
      '<function_calls>\nbook(city="Rome", quiet=true, note=null)\nnow()\n</function_calls>',
      ['book{"city":"Rome","quiet":true,"note":null}', 'now{}'],
    ],
    [
      'Qwen 3.5',
      '<tool_call><function=book><parameter=city>Rome</parameter><parameter=nights>3</parameter></function></tool_call>',
      ['book{"city":"Rome","nights":3}'],
    ],
    [
      'Qwen 3.5',
      '<function=book>\n<parameter=city>\nRome\n<parameter=nights>\n3\n</function>\n</tool_call>',
      ['book{"city":"Rome","nights":3}'],
    ],
    [
      'Qwen 3.5',
      '<tool_call>\n<function=book>\n<parameter=city>\n a </parameter> b\n\n</parameter>\n</function>\n</tool_call>',
      ['book{"city":" a </parameter> b\\n"}'],
    ],
    [
      'Qwen 3.5',
      '<tool_call>\n<function=now>\n<parameter=odd>\n[1, "a"]\n</parameter>\n<parameter=text>\n02139\n</parameter>\n</function>\n</tool_call>',
      ['now{"odd":[1, "a"],"text":"02139"}'],
    ],
  ])('%s: %s', (family, text, calls) => {
    const answer = partsOf(family, text);
    expect(answer).toMatchObject({ content: '', calls });
  });

  it.each([
    ['0x1F', '31'],
    ['-0b1_1', '-3'],
    ['0o17', '15'],
    ['0xFFFFFFFFFFFFFFFF', '18446744073709551615'],
    ['- 5', '-5'],
    ['--5', '5'],
    ['1_0.5e1', '10.5e1'],
    ['007.5', '7.5'],
    [String.raw`"\101\012\0"`, String.raw`"A\n\u0000"`],
    ['"x" \'y\'\n"""z"""', '"xyz"'],
    [String.raw`r"c:\d\"" u"e"`, String.raw`"c:\\d\\\"e"`],
    ['{"a" "b": (1, [2])}', '{"ab":[1,[2]]}'],
    ['((), (1,))', '[[],[1]]'],
  ])('a value of Python is read as Python reads it: %s', (value, json) => {
    expect(partsOf('LFM2', `<|tool_call_start|>[book(any=${value})]<|tool_call_end|>`)).toMatchObject({
      content: '',
      calls: [`book{"any":${json}}`],
    });
  });

  it('a line break in a text of JSON is escaped', () => {
    const text = '<tool_call>\n{"name": "book", "arguments": {"city": "a\nb\t\\\nc"}}\n</tool_call>';
    expect(partsOf('Qwen 3', text).calls).toEqual([String.raw`book{"city": "a\nb\t\nc"}`]);
  });

  it.each([
    ['{"nights": 1], "any": 2}', '{"nights": 1], "any": 2}'],
    ['{"rooms": [1}', '{"rooms": [1}'],
  ])('a wrong bracket does not cut arguments: %s', (written, json) => {
    const text = `<tool_call>\n{"name": "book", "arguments": ${written}}\n</tool_call>\nbye`;
    expect(partsOf('Qwen 3', text)).toMatchObject({ content: 'bye', calls: [`book${json}`] });
  });

  it('two calls may be in one opening of Hermes', () => {
    const call = '{"name": "now", "arguments": {}}';
    expect(partsOf('Qwen 3', `<tool_call>\n${call}\n${call}\n</tool_call>\nbye`)).toMatchObject({
      content: 'bye',
      calls: ['now{}', 'now{}'],
    });
  });

  it.each(['', '<|python_tag|>'])('Llama may write a semicolon between two calls: %s', (opening) => {
    const call = '{"name": "now", "parameters": {}}';
    expect(partsOf('Llama 3', `${opening}${call}; ${call}`)).toMatchObject({
      content: '',
      calls: ['now{}', 'now{}'],
    });
    expect(partsOf('Llama 3', `${opening}${call}; so`)).toMatchObject({
      content: '; so',
      calls: ['now{}'],
    });
  });

  it.each([
    ['city', '007', '"007"'],
    ['nights', '7', '7'],
    ['nights', 'seven', '"seven"'],
    ['price', '1e20', '1e20'],
    ['price', 'null', 'null'],
    ['quiet', 'False', 'false'],
    ['note', 'null', 'null'],
    ['note', '12', '"12"'],
    ['rooms', '[1, 2]', '[1, 2]'],
    ['rooms', '(1, 2)', '[1,2]'],
    ['any', '{"a": 1}', '{"a": 1}'],
    ['any', "{'a': True}", '{"a":true}'],
    ['any', 'text', '"text"'],
  ])('a parameter has the type that the schema gives %s: %s', (name, value, json) => {
    const text = `<tool_call>\n<function=book>\n<parameter=${name}>\n${value}\n</parameter>\n</function>\n</tool_call>`;
    expect(partsOf('Qwen 3.5', text).calls).toEqual([`book{"${name}":${json}}`]);
  });

  it('the tag of an end may be a line of a text', () => {
    const text = `<tool_call>\n<function=book>\n<parameter=city>\na\n</parameter> b\n</parameter>\n</function>\n</tool_call>`;
    expect(partsOf('Qwen 3.5', text).calls).toEqual(['book{"city":"a\\n</parameter> b"}']);
  });

  it.each([
    [
      'Qwen 3.5',
      '<tool_call>\n<function=book>\n<parameter=city>\n\u{1F600}\n</parameter>\n</function>\n</tool_call>',
    ],
    ['LFM2', '<|tool_call_start|>[book(city="\u{1F600}")]<|tool_call_end|>'],
    ['FunctionGemma', '<start_function_call>call:book{city:<escape>\u{1F600}<escape>}<end_function_call>'],
  ])('%s: a character of two units stays whole between two pieces', (family, text) => {
    expect(
      callsOf(
        family,
        Array.from({ length: text.length }, (_, index) => text.charAt(index)),
      ),
    ).toEqual(['book{"city":"\u{1F600}"}']);
  });

  it('a text argument comes in pieces while the model writes it', () => {
    const text = '<tool_call>\n<function=book>\n<parameter=city>\nRome\n';
    const pieces = partsOf('Qwen 3.5', text, {}, true).parts.filter(({ type }) => type === 'tool-arguments');
    expect(pieces.map((part) => 'text' in part && part.text)).toEqual(['{', '"city":"', 'R', 'o', 'm', 'e']);
  });
});

describe('what is no call stays text', () => {
  it.each<readonly [string, string]>([
    ['Llama 3', '{"a": 1} is a dict'],
    ['Llama 3', '{"name": "Ann", "parameters": {"x": 1}}'],
    ['Llama 3', '{"name": "book", "price": 3}'],
    ['Llama 3', '{}'],
    ['Qwen 3', 'It is <tool_call> nothing </tool_call>.'],
    ['Qwen 3', '<tool_call>{"name": "book"}</tool_call>'],
    ['Qwen 3', '<tool_call>{"name": "book", "arguments": "a"}</tool_call>'],
    ['Mistral 7B', '[TOOL_CALLS] no calls today'],
    ...[
      '"Rome"',
      'city="Rome", 3',
      'city=f"a"',
      'city=Rome',
      'nights=007',
      'nights=1+2',
      'price=1e400',
      'price=float("inf")',
      'rooms={1, 2}',
      'rooms={(1, 2)}',
      'rooms=([1, 2])',
      'any={"a"}',
      'any=[x for x in y]',
      String.raw`city="\N{BULLET}"`,
      String.raw`city="\x4"`,
      String.raw`city="\U00110000"`,
      'nights=1, nights=2',
      'city="Rome"',
    ].map((text, index, { length }): readonly [string, string] => {
      // The last one isn't over.
      const end = index === length - 1 ? '' : ')]<|tool_call_end|>';
      return ['LFM2', `<|tool_call_start|>[book(${text}${end}`];
    }),
    ['FunctionGemma', '<start_function_call>call:book{nights:two}<end_function_call>'],
    ['Qwen 3.5', 'a <function= b'],
    ['Qwen 3.5', '<tool_call>\n{"name": "book", "arguments": {}}\n</tool_call>'],
  ])('%s: %s', (family, content) => {
    expect(partsOf(family, content)).toMatchObject({ content, calls: [] });
  });
});

it('a call that is none stays text behind one', () => {
  const text = '<|tool_call_start|>[now(), book(city=Rome)]<|tool_call_end|>';
  expect(partsOf('LFM2', text)).toMatchObject({
    content: 'book(city=Rome)]<|tool_call_end|>',
    calls: ['now{}'],
  });
});

it('a call that the limit of tokens cuts has the beginning of its arguments', () => {
  const text = '<|tool_call_start|>[now(), book(city="Ro';
  expect(partsOf('LFM2', text, {}, true)).toMatchObject({
    content: '',
    calls: ['now{}', 'book{"city":"Ro'],
  });
});

it('arguments before the name are read once', () => {
  const search = vi.spyOn(String.prototype, 'charAt');
  const numRead = (length: number): number => {
    search.mockClear();
    const text = `<tool_call>{"arguments": {"city": "${'x'.repeat(length)}"}, "name": "book"}</tool_call>`;
    expect(partsOf('Qwen 3', text).calls).toHaveLength(1);
    return search.mock.calls.length;
  };
  expect(numRead(2000)).toBeLessThan(3 * numRead(1000));
  search.mockRestore();
});

it.each([
  ['Ministral 3', '[TOOL_CALLS]'],
  ['LFM2', '<|tool_call_start|>[bo'],
  ['Qwen 3', '<tool_call>\n{"name": "bo'],
  ['Llama 3', '{"name": "book", "para'],
])('%s: a call that has no name yet is left out: %s', (family, text) => {
  for (const isCut of [true, false])
    expect(partsOf(family, `Well. ${text}`, {}, isCut)).toMatchObject({ content: 'Well.', calls: [] });
});

describe('thinking', () => {
  it('ends at a call, also where the model forgets to end it', () => {
    const text = 'Hm.\n<tool_call>\n<function=now>\n</function>\n</tool_call>';
    expect(partsOf('Qwen 3.5', text, { thinking: 'begun' })).toMatchObject({
      reasoning: 'Hm.',
      content: '',
      calls: ['now{}'],
    });
  });

  it('may be about the marks of calls', () => {
    const text = 'I write <tool_call> then.\n</think>\n\nYes.';
    expect(partsOf('Qwen 3', text, { thinking: 'begun' })).toMatchObject({
      reasoning: 'I write <tool_call> then.',
      content: 'Yes.',
    });
  });

  it('of Mistral has its own marks, and may have calls in it', () => {
    const marks = { begin: '[THINK]', end: '[/THINK]', after: '' };
    const text = '[THINK]Now [TOOL_CALLS]now[ARGS]{}?[/THINK]Yes.[TOOL_CALLS]now[ARGS]{}';
    expect(partsOf('Ministral 3', text, { thinking: 'optional', marks })).toMatchObject({
      reasoning: 'Now [TOOL_CALLS]now[ARGS]{}?',
      content: 'Yes.',
      calls: ['now{}'],
    });
  });
});

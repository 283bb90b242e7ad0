import type {
  ResponseFormat,
  StructuralPart,
  StructuralTag,
} from '../../batching/options/response-format.ts';
import { createRandom, RandomChoices } from './random-choices.ts';
import { randomSchema, randomWideSchema } from './random-schemas.ts';

/** A shape of any kind that every model with whole-byte tokens can write: none of them may be refused. */
export function randomShape(seed: number): ResponseFormat {
  const choices = new RandomChoices(createRandom(seed));
  const kinds: readonly (() => ResponseFormat)[] = [
    () => ({ type: 'json_schema', schema: randomSchema(seed) }),
    () => ({ type: 'json_schema', schema: randomWideSchema(seed) }),
    () => ({ type: 'json_object' }),
    () => ({ type: 'choice', choices: [...new Set(choices.many(8, () => textBy(choices)))] }),
    () => ({ type: 'regex', pattern: `^(?:${patternBy(choices, 4)})$` }),
    () => ({ type: 'grammar', grammar: grammarBy(choices) }),
    () => ({ type: 'structural_tag', format: callsBy(choices, seed) }),
    () => ({ type: 'structural_tag', format: thoughtBy(choices, seed) }),
  ];
  return choices.one(kinds)();
}

const ALPHABET = Array.from(`abcXYZ019 .,:-_'"\\{}[]\n\täß€\u{1F600}`);

function textBy(choices: RandomChoices): string {
  return choices.many(choices.integer(1, 12), () => choices.one(ALPHABET)).join('');
}

/** A regular expression with groups up to `depth` inside each other. */
function patternBy(choices: RandomChoices, depth: number): string {
  const atom = (): string =>
    choices.one([
      'a',
      'B',
      '7',
      ' ',
      '"',
      '[a-f]',
      '[^,"]',
      String.raw`\d`,
      String.raw`\w`,
      '.',
      'ä',
      '[äß]',
    ]);
  if (depth <= 0) return atom();
  const part = (): string => patternBy(choices, depth - 1);
  return choices.one([
    atom,
    () => `${part()}${part()}`,
    () => `(${choices.many(choices.integer(2, 3), part).join('|')})`,
    () => `(?:${part()})${choices.one(['?', '*', '+'])}`,
    () => `${atom()}${choices.one(['{2}', '{1,4}', '{0,3}', '{3,}'])}`,
  ])();
}

/** Each rule leads to later ones alone, and to itself behind a text, so that each has an end. */
function grammarBy(choices: RandomChoices): string {
  const count = choices.integer(2, 8);
  const names = ['root', ...Array.from({ length: count }, (_, index) => `rule-${index}`)];
  const rules = names.map((name, index) => {
    const later = names.slice(index + 1);
    const part = (): string =>
      choices.one([
        () => JSON.stringify(choices.one(['a', 'b c', 'x"y', '1'])),
        () => choices.one(['[a-z]', '[0-9]{1,3}', '[^\\n"]']),
        () => (later.length > 0 ? choices.one(later) : '"end"'),
        () => `("x" | "y")${choices.one(['?', '*', '+', ''])}`,
      ])();
    const sequence = (): string => choices.many(choices.integer(1, 3), part).join(' ');
    const alternatives = [
      ...choices.many(choices.integer(1, 3), sequence),
      ...(choices.is(0.4) ? [`"(" ${name} ")"`] : []),
    ];
    return `${name} ::= ${alternatives.join(' | ')}`;
  });
  return rules.join('\n');
}

/** Free text with calls of two tools. */
function callsBy(choices: RandomChoices, seed: number): StructuralPart {
  const tags = ['search', 'write "it"'].map((name, index): StructuralTag => ({
    type: 'tag',
    begin: `<call>${JSON.stringify({ name }).slice(0, -1)}, "arguments": `,
    content: { type: 'json_schema', json_schema: randomWideSchema(seed + index) },
    end: '}</call>',
  }));
  const options = { at_least_one: choices.is(0.5), stop_after_first: choices.is(0.5) };
  return choices.is(0.5)
    ? { type: 'triggered_tags', triggers: ['<call>'], tags, ...options }
    : { type: 'tags_with_separator', separator: '\n', tags, ...options };
}

/** Thinking, then an answer of another shape. */
function thoughtBy(choices: RandomChoices, seed: number): StructuralPart {
  const answers: readonly StructuralPart[] = [
    { type: 'json_schema', json_schema: randomSchema(seed) },
    { type: 'regex', pattern: patternBy(choices, 3) },
    { type: 'grammar', grammar: grammarBy(choices) },
    { type: 'or', elements: ['yes', 'no'].map((value) => ({ type: 'const_string', value })) },
  ];
  const thought = { type: 'tag', begin: '', content: { type: 'any_text' }, end: '</think>' } as const;
  return { type: 'sequence', elements: [thought, choices.one(answers)] };
}

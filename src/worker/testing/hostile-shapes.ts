import type { ResponseFormat, StructuralPart } from '../../batching/options/response-format.ts';
import type { JsonRecord } from '../../batching/base/validate-compound.ts';

/** Shapes that exhaust a stack, the memory or the time of a matcher without limits. Each is refused or followed, and harms no other. */
export const HOSTILE_SHAPES: Readonly<Record<string, () => ResponseFormat>> = {
  '160 groups': () => patternOf(nested('(', 'a', ')', 160)),
  '2,000 groups': () => patternOf(nested('(', 'a', ')', 2000)),
  '20,000 groups with a star': () => patternOf(nested('(?:', 'a', ')*', 20_000)),
  '100 groups in a grammar': () => grammarOf(`root ::= ${nested('(', '"a"', ')', 100)}`),
  '10,000 groups in a grammar': () => grammarOf(`root ::= ${nested('(', '"a"', ')', 10_000)}`),
  '100 objects in each other': () => schemaOf(nestedObjects(100)),
  '500 objects in each other': () => schemaOf(nestedObjects(500)),
  '1,000 objects in each other': () => schemaOf(nestedObjects(1000)),
  '500 lists in each other': () => schemaOf(nestedBy(500, (items) => ({ type: 'array', items }))),
  '500 alternatives in each other': () =>
    schemaOf(nestedBy(500, (inner) => ({ anyOf: [inner, { type: 'null' }] }))),
  '500 tags in each other': () => ({ type: 'structural_tag', format: nestedTags(500) }),
  '2,500 rules in a circle': () => grammarOf(circleOf(2500)),
  '2,500 rules in a circle without an end': () => grammarOf(circleOf(2500).replace('"a" | ', '')),
  '53 kB of alternatives': () => grammarOf(`root ::= ${lettersOf(6000).join(' | ')}`),
  '53 kB of rules': () => grammarOf(rulesOf(2500)),
  'counts in counts': () => patternOf('((a{50}){50}){50}'),
  'counts in counts of a grammar': () => grammarOf('root ::= (("a"{99}){99}){99}'),
  'a large count of a wide class': () => patternOf(String.raw`(\w|\W){1,100000}`),
  'many ways at once': () => patternOf(`${'(a|a?)+'.repeat(30)}b`),
  'stars in stars': () => patternOf('((((a*)*)*)*)*b'),
  'optional a, then a': () => patternOf(`${'a?'.repeat(500)}${'a'.repeat(500)}`),
  'rules that double': () =>
    grammarOf(
      `root ::= r0\n${Array.from({ length: 40 }, (_, i) => `r${i} ::= r${i + 1} r${i + 1}`).join('\n')}\nr40 ::= "a"`,
    ),
  'rules that are empty in many ways': () => grammarOf('root ::= root root root | "" | "a"'),
  'left recursion': () => grammarOf('root ::= root "a" | "a"'),
  'a rule of itself': () => grammarOf('root ::= root'),
  'two rules of each other': () => grammarOf('root ::= a\na ::= b\nb ::= a'),
  'references in a circle': () =>
    schemaOf({ $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }),
  'an object that holds itself': () =>
    schemaOf({ type: 'object', properties: { a: { $ref: '#' } }, required: ['a'] }),
  'references that double': () => schemaOf(doubling(40)),
  'a million items': () => schemaOf({ type: 'array', items: { type: 'string' }, minItems: 1_000_000 }),
  'a string of a billion': () => schemaOf({ type: 'string', minLength: 1_000_000_000 }),
  '1,000 unique items': () =>
    schemaOf({ type: 'array', items: { type: 'integer' }, uniqueItems: true, minItems: 1000 }),
  '3,000 optional properties': () =>
    schemaOf({ type: 'object', properties: Object.fromEntries(lettersOf(3000).map((name) => [name, true])) }),
  '60 kB of enum': () => schemaOf({ enum: Array.from({ length: 6000 }, (_, index) => `value ${index}`) }),
  'one of a thousand numbers': () =>
    schemaOf({
      anyOf: Array.from({ length: 1000 }, (_, n) => ({ type: 'integer', minimum: n, multipleOf: n + 1 })),
    }),
  'a multiple of a large prime': () => schemaOf({ type: 'integer', multipleOf: 999_999_937 }),
  'keys by a pattern of many ways': () =>
    schemaOf({ type: 'object', propertyNames: { pattern: '^(a|a?)+$' }, additionalProperties: true }),
  'names of the prototype': () =>
    schemaOf(
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"integer"}},"required":["__proto__"]}'),
    ),
  'a pattern that no text has': () => patternOf(String.raw`[^\s\S]`),
};

function patternOf(pattern: string): ResponseFormat {
  return { type: 'regex', pattern };
}

function grammarOf(grammar: string): ResponseFormat {
  return { type: 'grammar', grammar };
}

function schemaOf(schema: JsonRecord): ResponseFormat {
  return { type: 'json_schema', schema };
}

function nested(open: string, inner: string, close: string, depth: number): string {
  return open.repeat(depth) + inner + close.repeat(depth);
}

function nestedBy(depth: number, wrap: (inner: JsonRecord) => JsonRecord): JsonRecord {
  let schema: JsonRecord = { type: 'integer' };
  for (let level = 0; level < depth; level += 1) schema = wrap(schema);
  return schema;
}

function nestedObjects(depth: number): JsonRecord {
  return nestedBy(depth, (a) => ({ type: 'object', properties: { a }, required: ['a'] }));
}

function nestedTags(depth: number): StructuralPart {
  let part: StructuralPart = { type: 'const_string', value: 'a' };
  for (let level = 0; level < depth; level += 1) part = { type: 'tag', begin: '<', content: part, end: '>' };
  return part;
}

function circleOf(numRules: number): string {
  const rules = Array.from(
    { length: numRules },
    (_, index) => `r${index} ::= "a" | r${(index + 1) % numRules}`,
  );
  return `root ::= r0\n${rules.join('\n')}`;
}

function rulesOf(numRules: number): string {
  const rules = Array.from({ length: numRules }, (_, index) => `r${index} ::= "${index}" r${index + 1}?`);
  return `root ::= r0\n${rules.join('\n')}\nr${numRules} ::= "end"`;
}

function lettersOf(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `"w${index}"`);
}

/** Each definition holds the next twice. */
function doubling(depth: number): JsonRecord {
  const definitions = Array.from({ length: depth }, (_, index) => [`d${index}`, pairOf(index + 1)]);
  return { ...pairOf(0), $defs: Object.fromEntries([...definitions, [`d${depth}`, { type: 'null' }]]) };
}

function pairOf(definition: number): JsonRecord {
  const reference = { $ref: `#/$defs/d${definition}` };
  return { type: 'object', properties: { a: reference, b: reference }, required: ['a', 'b'] };
}

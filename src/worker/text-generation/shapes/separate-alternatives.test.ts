import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { separateAlternatives } from './separate-alternatives.ts';
import { canWrite, createShape, loadShapedModel } from './test-support.ts';

const linesOf = (...lines: string[]): string => lines.join('\n');

it.each([
  linesOf('root ::= (("a" rest) | ("b"))', 'rest ::= ("" | ("c" [^\\"\\n]* "é"))'),
  linesOf('tags ::= TagDispatch(', '  ("<call>", root),', '  stop_eos=true', ')', 'root ::= (("a"))'),
])('what begins with different characters stays as it is', (printed) => {
  expect(separateAlternatives(printed)).toBe(printed);
});

it.each([
  [
    'puts before alternatives what they have in common',
    linesOf(String.raw`root ::= (("a\"b") | ("a\"c" root) | ("a\"") | ("d")) (=([,)]))`),
    linesOf(
      String.raw`root ::= (("a" "\"" root_nothing_0) | ("d")) (=([,)]))`,
      'root_nothing_0 ::= (("b") | ("c" root) | "")',
      'nothing ::= ("")',
    ),
  ],
  [
    'gives a rule of its own to characters that share a first byte, and to what two inlined rules begin with',
    linesOf(
      String.raw`root ::= (("\xe9") | ("\xe8" "x"))`,
      'one ::= ((two) | ([0-9] "b"))',
      'two ::= (([0-9] "a"))',
    ),
    linesOf(
      'root ::= ((root_nothing_0) | (root_nothing_1))',
      String.raw`root_nothing_0 ::= ((nothing "\xe9"))`,
      String.raw`root_nothing_1 ::= ((nothing "\xe8" "x"))`,
      'one ::= ((one_nothing_0) | (one_nothing_1))',
      'one_nothing_0 ::= ((nothing two))',
      'one_nothing_1 ::= ((nothing [0-9] "b"))',
      'two ::= (([0-9] "a"))',
      'nothing ::= ("")',
    ),
  ],
  [
    'begins no rule with a repeated class',
    'root ::= (([a-z]* "c"))',
    linesOf('root ::= ((root_nothing_0))', 'root_nothing_0 ::= ((nothing [a-z]* "c"))', 'nothing ::= ("")'),
  ],
])('%s', (_, printed, separated) => {
  expect(separateAlternatives(printed)).toBe(separated);
});

it('a choice lets no text pass that mixes two of its texts', { timeout: 120_000 }, async () => {
  const model = await loadShapedModel();
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 1, maxLength: 6 });
  const texts = fc.uniqueArray(text, { minLength: 8, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(texts, async (choices) => {
      const mixed = choices.flatMap((first) => choices.map((second) => first.slice(0, 2) + second.slice(2)));
      for (const each of new Set([...choices.slice(0, 3), ...mixed.slice(0, 40)])) {
        const shape = await createShape(model, { type: 'choice', choices });
        const written = await canWrite(model, shape, each);
        expect(written, `“${each}”`).toBe(choices.includes(each));
      }
    }),
    { numRuns: process.env['FULL'] ? 500 : 30 },
  );
});

import { expect, it } from 'vitest';

import { runToEnd } from '../../test-support.ts';
import { endlessRuleOf, Expressions, type Expression } from './expressions.ts';

/** A sequence of that many parts, and how often its parts are read. */
function countedSequence(parts: readonly Expression[]) {
  const reads = { count: 0 };
  const counted = new Proxy(parts, {
    get(target, key) {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads.count += 1;
      return Reflect.get(target, key);
    },
  });
  const sequence: Expression = { kind: 'sequence', id: -1, parts: counted };
  return { sequence, reads };
}

it.each<[string, (make: Expressions) => readonly Expression[]]>([
  [
    'different rules',
    (make: Expressions) => Array.from({ length: 2000 }, () => make.rule('a', make.text('x'))),
  ],
  [
    'one rule',
    (make: Expressions) => Array.from<Expression>({ length: 2000 }).fill(make.rule('a', make.text('xy'))),
  ],
  ['letters', (make: Expressions) => Array.from<Expression>({ length: 2000 }).fill(make.text('a'))],
])('a sequence of 2000 parts is read once to see that it ends: %s', (_, partsIn) => {
  const make = new Expressions();
  const parts = [...partsIn(make)];
  const { sequence, reads } = countedSequence(parts);
  expect(runToEnd(endlessRuleOf(make.rule('root', sequence))).value).toBeUndefined();
  expect(reads.count).toBe(parts.length);
});

it('the rule that never ends is found behind parts that do', () => {
  const make = new Expressions();
  const [ending, endless] = [make.rule('ending', make.text('x')), make.rule('endless')];
  endless.body = make.sequence([ending, make.choice([endless, make.sequence([ending, endless])])]);
  const root = make.rule('root', make.choice([ending, make.repeat(endless, 1, 3)]));
  expect(runToEnd(endlessRuleOf(root)).value).toBe(endless);
  endless.body = make.sequence([ending, make.optional(endless)]);
  expect(runToEnd(endlessRuleOf(root)).value).toBeUndefined();
});

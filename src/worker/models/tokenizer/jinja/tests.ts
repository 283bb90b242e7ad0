import { binary } from './arithmetic.ts';
import { spend } from './bounds.ts';
import { compare, equals, numberOf, textOf } from './compare.ts';
import { Dict, Range, Tuple, ValueSet } from './containers.ts';
import { filterOf } from './filters.ts';
import { isLower, isUpper } from './letters.ts';
import { Markup } from './markup.ts';
import { str } from './print.ts';
import { isList, Callable, iterableOf, Undefined, type Bound, type Value } from './values.ts';

export interface Test {
  readonly params: readonly string[];
  readonly run: (value: Value, args: Bound) => boolean;
}

const plain = (run: (value: Value) => boolean): Test => ({ params: [], run });
const with1 = (run: (value: Value, other: Value) => boolean): Test => ({
  params: ['other'],
  run: (value, [other = null]) => run(value, other),
});
const comparing = (operator: string): Test => with1((value, other) => compare(operator, value, other));
const modulo = (value: Value, by: Value) => binary('%', value, by);

const TESTS: Readonly<Record<string, Test>> = {
  boolean: plain((value) => typeof value === 'boolean'),
  callable: plain((value) => value instanceof Callable || value instanceof Undefined),
  defined: plain((value) => !(value instanceof Undefined)),
  divisibleby: { params: ['num'], run: (value, [by = null]) => equals(modulo(value, by), 0n) },
  escaped: plain((value) => value instanceof Markup),
  even: plain((value) => equals(modulo(value, 2n), 0n)),
  false: plain((value) => value === false),
  filter: plain((value) => isKnown(value, filterOf)),
  float: plain((value) => typeof value === 'number'),
  in: { params: ['seq'], run: (value, [seq = null]) => compare('in', value, seq) },
  integer: plain((value) => typeof value === 'bigint'),
  iterable: plain((value) => iterableOf(value) !== undefined),
  lower: plain((value) => isLower(read(value))),
  mapping: plain((value) => value instanceof Dict),
  none: plain((value) => value === null),
  number: plain((value) => numberOf(value) !== undefined),
  odd: plain((value) => equals(modulo(value, 2n), 1n)),
  sameas: with1((value, other) => value === other),
  sequence: plain(
    (value) =>
      textOf(value) !== undefined ||
      isList(value) ||
      [Tuple, Dict, Range, Undefined].some((type) => value instanceof type),
  ),
  string: plain((value) => textOf(value) !== undefined),
  test: plain((value) => isKnown(value, testOf)),
  true: plain((value) => value === true),
  undefined: plain((value) => value instanceof Undefined),
  upper: plain((value) => isUpper(read(value))),
  ...Object.fromEntries(
    Object.entries({
      '==': ['eq', 'equalto'],
      '!=': ['ne'],
      '>': ['gt', 'greaterthan'],
      '>=': ['ge'],
      '<': ['lt', 'lessthan'],
      '<=': ['le'],
    }).flatMap(([operator, names]) => [operator, ...names].map((name) => [name, comparing(operator)])),
  ),
};

function read(value: Value): string {
  const text = str(value);
  spend(text.length);
  return text;
}

/** @throws TemplateError for a list or a dict, which is no key. */
function isKnown(value: Value, find: (name: string) => unknown): boolean {
  new ValueSet().add(value);
  const name = textOf(value);
  return name !== undefined && find(name) !== undefined;
}

export function testOf(name: string): Test | undefined {
  return Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
}

import { checkSearch, nested, spend, step } from './bounds.ts';
import { Dict, Range, Tuple } from './containers.ts';
import { Markup } from './markup.ts';
import { isList, iterableOf, TemplateError, typeName, Undefined, type Value } from './values.ts';

type Numeric = bigint | number;

/** A bool is an int in Python. */
export function numberOf(value: Value): Numeric | undefined {
  if (typeof value === 'boolean') return value ? 1n : 0n;
  return typeof value === 'bigint' || typeof value === 'number' ? value : undefined;
}

/** Undefined for what isn't a text. */
export function textOf(value: Value): string | undefined {
  return typeof value === 'string' ? value : value instanceof Markup ? value.text() : undefined;
}

/** `left == right`. */
export function equals(left: Value, right: Value): boolean {
  step();
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) return leftNumber == rightNumber;
  const text = textOf(left);
  if (text !== undefined) return areEqualTexts(text, textOf(right));
  if (isList(left)) return isList(right) && areEqual(left, right);
  if (left instanceof Tuple) return right instanceof Tuple && areEqual(left.items, right.items);
  if (left instanceof Range) return right instanceof Range && areEqual(itemsOf(left), itemsOf(right));
  if (left instanceof Undefined) return right instanceof Undefined;
  if (!(left instanceof Dict) || !(right instanceof Dict)) return left === right;
  if (left.size() !== right.size()) return false;
  return nested(() => {
    for (const [key, value] of left.entries) {
      const other = right.get(key);
      if (other === undefined || !equals(value, other)) return false;
    }
    return true;
  });
}

function itemsOf(range: Range): readonly Value[] {
  spend(range.size());
  return [...range.iterate()];
}

function areEqualTexts(left: string, right: string | undefined): boolean {
  if (left.length !== right?.length) return false;
  spend(left.length);
  return left === right;
}

function areEqual(left: readonly Value[], right: readonly Value[]): boolean {
  return (
    left.length === right.length && nested(() => left.every((item, i) => equals(item, right[i] ?? null)))
  );
}

/** Whether it is less than, equal to or more than the other; NaN for a float that is no number. @throws TemplateError */
export function order(left: Value, right: Value, operator = '<'): number {
  step();
  const [leftNumber, rightNumber] = [numberOf(left), numberOf(right)];
  if (leftNumber !== undefined && rightNumber !== undefined) {
    if (leftNumber < rightNumber) return -1;
    if (leftNumber > rightNumber) return 1;
    return leftNumber == rightNumber ? 0 : Number.NaN;
  }
  const [leftText, rightText] = [textOf(left), textOf(right)];
  if (leftText !== undefined && rightText !== undefined) return orderTexts(leftText, rightText);
  if (isList(left) && isList(right)) return orderLists(left, right, operator);
  if (left instanceof Tuple && right instanceof Tuple) return orderLists(left.items, right.items, operator);
  for (const value of [left, right]) if (value instanceof Undefined) value.fail();
  throw new TemplateError(
    `'${operator}' not supported between instances of '${typeName(left)}' and '${typeName(right)}'`,
  );
}

/** By code points, where JavaScript's operators go by UTF-16 units. */
function orderTexts(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  let i = 0;
  while (i < length && left.charCodeAt(i) === right.charCodeAt(i)) i += 1;
  spend(i);
  // The second half of a pair follows the same first half: their order is that of the code points.
  const [a, b] = [left.codePointAt(i) ?? -1, right.codePointAt(i) ?? -1];
  return Math.sign(a - b);
}

function orderLists(left: readonly Value[], right: readonly Value[], operator: string): number {
  return nested(() => {
    for (const [i, item] of left.entries()) {
      const other = right[i];
      if (other === undefined) return 1;
      if (!equals(item, other)) return order(item, other, operator);
    }
    return Math.sign(left.length - right.length);
  });
}

/** `left <operator> right`. @throws TemplateError as Python's TypeError. */
export function compare(operator: string, left: Value, right: Value): boolean {
  switch (operator) {
    case '==':
      return equals(left, right);
    case '!=':
      return !equals(left, right);
    case 'in':
      return contains(right, left);
    case 'not in':
      return !contains(right, left);
    case '<':
      return order(left, right, operator) < 0;
    case '<=':
      return order(left, right, operator) <= 0;
    case '>':
      return order(left, right, operator) > 0;
    default:
      return order(left, right, operator) >= 0;
  }
}

/** `item in container`. @throws TemplateError as Python's TypeError. */
function contains(container: Value, item: Value): boolean {
  const text = textOf(container);
  if (text !== undefined) {
    const part = textOf(item);
    if (part === undefined)
      throw new TemplateError(`'in <string>' requires string as left operand, not ${typeName(item)}`);
    checkSearch(text, part);
    return text.includes(part);
  }
  if (container instanceof Dict) return container.get(item) !== undefined;
  const items = iterableOf(container);
  if (items === undefined)
    throw new TemplateError(`argument of type '${typeName(container)}' is not iterable`);
  for (const other of items) if (other === item || equals(other, item)) return true;
  return false;
}

/** Sorted as Python sorts: equal items keep their order, reversed or not. */
export function sorted<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => Value,
  isReversed = false,
): Item[] {
  const keyed = items.map((item) => ({ item, key: keyOf(item) }));
  const sign = isReversed ? -1 : 1;
  return keyed.toSorted((a, b) => sign * (order(a.key, b.key) || 0)).map(({ item }) => item);
}

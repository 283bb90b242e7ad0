import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import type { Expression, Expressions, Rule } from './expressions.ts';
import { checkDepth } from './limits.ts';
import type { Work } from './pace.ts';

/** Rules that begin with each other. */
const MAX_CIRCLE = 32;

/** A rule that another one begins with, and whether something may follow it there. */
interface Beginning {
  readonly rule: Rule;
  readonly isFollowed: boolean;
}

/**
 * Rewrites rules that begin with themselves: `a ::= a "x" | "y"` becomes `a ::= "y" r` with `r ::= "" | "x" r`. Otherwise a text would
 * be within endlessly many of them at its beginning.
 *
 * @throws ResponseFormatUnsupportedError where one begins with itself behind a part that may be empty.
 */
export function* removeLeftRecursion(rules: readonly Rule[], make: Expressions, param: string): Work<void> {
  const circles = yield* circlesOf(rules);
  if (circles.length === 0) return;
  const made: Rule[] = [];
  for (const circle of circles) {
    if (circle.length > MAX_CIRCLE)
      throw ResponseFormatUnsupportedError.of(
        param,
        `has more than ${MAX_CIRCLE} rules that begin with each other`,
        'let them begin with different parts',
      );
    made.push(...(yield* rewrite(circle, make, param)));
  }
  const [[rule] = []] = yield* circlesOf([...rules, ...made]);
  if (rule)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a rule that begins with itself behind a part that may be empty (${rule.name})`,
      'let it begin with another part',
    );
}

/** Rules that begin with each other, where something follows one of them: else nothing is added to the text. */
function* circlesOf(rules: readonly Rule[]): Work<readonly (readonly Rule[])[]> {
  const isEmpty = yield* emptyRules(rules);
  const beginnings = new Map<Rule, readonly Beginning[]>();
  for (const rule of rules) {
    beginnings.set(rule, beginningsOf(rule.body, false, isEmpty));
    yield;
  }
  const users = new Map<Rule, Rule[]>(rules.map((rule) => [rule, []]));
  for (const [user, all] of beginnings) for (const { rule } of all) users.get(rule)?.push(user);
  const found = new Set<Rule>();
  const circles: Rule[][] = [];
  for (const [user, all] of beginnings)
    for (const { rule, isFollowed } of all) {
      yield;
      if (!isFollowed || found.has(rule)) continue;
      const before = reachable(rule, (each) => users.get(each) ?? []);
      if (!before.has(user)) continue;
      const behind = reachable(rule, (each) =>
        (beginnings.get(each) ?? []).map((beginning) => beginning.rule),
      );
      if (!behind.has(user)) continue;
      const circle = [...behind].filter((each) => before.has(each));
      for (const each of circle) found.add(each);
      circles.push(circle);
    }
  return circles;
}

function reachable(start: Rule, next: (rule: Rule) => readonly Rule[]): ReadonlySet<Rule> {
  const found = new Set([start]);
  // A set's loop comes to what is added meanwhile.
  for (const rule of found) for (const each of next(rule)) found.add(each);
  return found;
}

function beginningsOf(
  expression: Expression | undefined,
  isFollowed: boolean,
  isEmpty: (part: Expression) => boolean,
): readonly Beginning[] {
  switch (expression?.kind) {
    case 'rule':
      return [{ rule: expression, isFollowed }];
    case 'choice':
      return expression.branches.flatMap((branch) => beginningsOf(branch, isFollowed, isEmpty));
    case 'repeat':
      return beginningsOf(expression.part, true, isEmpty);
    case 'sequence': {
      const { parts } = expression;
      const first = parts.findIndex((part) => !isEmpty(part));
      return parts
        .slice(0, first < 0 ? undefined : first + 1)
        .flatMap((part, index) => beginningsOf(part, isFollowed || index < parts.length - 1, isEmpty));
    }
    case 'bytes':
    case 'machine':
    case undefined:
      return [];
  }
}

/** Whether an expression may be the empty text. */
function* emptyRules(rules: readonly Rule[]): Work<(expression: Expression) => boolean> {
  const empty = new Set<Rule>();
  const isEmpty = (expression: Expression): boolean => {
    switch (expression.kind) {
      case 'rule':
        return empty.has(expression);
      case 'choice':
        return expression.branches.some(isEmpty);
      case 'repeat':
        return expression.min === 0 || isEmpty(expression.part);
      case 'sequence':
        return expression.parts.every(isEmpty);
      case 'machine':
        return expression.machine.isEnd;
      case 'bytes':
        return false;
    }
  };
  for (let before = -1; before < empty.size;) {
    before = empty.size;
    for (const rule of rules) {
      if (rule.body && isEmpty(rule.body)) empty.add(rule);
      yield;
    }
  }
  return isEmpty;
}

interface Production {
  /** The rule of the circle that it begins with. */
  readonly first?: Rule;
  readonly rest: Expression;
}

/** Returns the rules of what follows: behind one of the circle's other beginnings until the end of a rule of it. */
function* rewrite(circle: readonly Rule[], make: Expressions, param: string): Work<readonly Rule[]> {
  const rewritten = new Set(circle);
  const productions = circle.flatMap((rule) =>
    productionsIn(rule.body ? [rule.body] : [], 0).map((production) => ({ rule, ...production })),
  );
  const behind = new Map(
    circle.map((from) => [
      from,
      new Map(circle.map((to) => [to, make.rule(`${to.name} behind ${from.name}`)])),
    ]),
  );
  const behindOf = (from: Rule, to: Rule): Expression => behind.get(from)?.get(to) ?? make.never;
  for (const [from, ends] of behind)
    for (const [to, rule] of ends) {
      yield;
      rule.body = make.choice([
        ...(from === to ? [make.empty] : []),
        ...productions
          .filter(({ first }) => first === from)
          .map((production) => make.sequence([production.rest, behindOf(production.rule, to)])),
      ]);
    }
  for (const rule of circle)
    rule.body = make.choice(
      productions
        .filter(({ first }) => first === undefined)
        .map((production) => make.sequence([production.rest, behindOf(production.rule, rule)])),
    );
  return [...behind.values()].flatMap((ends) => [...ends.values()]);

  function productionsIn(parts: readonly Expression[], depth: number): readonly Production[] {
    checkDepth(depth, param);
    const [head, ...tail] = parts;
    if (!head || !beginningsOf(head, false, () => false).some(({ rule }) => rewritten.has(rule)))
      return [{ rest: make.sequence(parts) }];
    const inside = (further: readonly Expression[]): readonly Production[] =>
      productionsIn([...further, ...tail], depth + 1);
    switch (head.kind) {
      case 'rule':
        return [{ first: head, rest: make.sequence(tail) }];
      case 'choice':
        return head.branches.flatMap((branch) => inside([branch]));
      case 'sequence':
        return inside(head.parts);
      case 'repeat': {
        const more = make.repeat(head.part, Math.max(0, head.min - 1), head.max - 1);
        return [...inside([head.part, more]), ...(head.min > 0 ? [] : inside([]))];
      }
      case 'bytes':
      case 'machine':
        return [];
    }
  }
}

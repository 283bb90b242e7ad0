import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { countsIn, MAX_COUNT } from './check-pattern.ts';

/** Of the grammar as the library prints it. */
const MAX_LENGTH = 100_000;

/** The library tries each token of the vocabulary at each place where most characters may come. This many take a few seconds. */
const MAX_TRIALS = 4_000_000;

/** A place for a character that isn't only a digit. */
const WIDE_PLACE = /\[(?!(?:[0-9A-Fa-f]-?)+\])(?:\\.|[^\]\\])*\]/g;

/** Parentheses inside each other: the library recurses. */
const MAX_DEPTH = 64;
const MAX_COUNTS = 1000;

const RULE = /^\s*(\S+) ::= (.*)$/gm;
/** Text and classes, names, and what groups and repeats them. */
const PART = /"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[\w.-]+|\{\d+(?:,\d*)?\}|[()|*+?]/g;
/** As the library prints it. It compiles sets of them to the bytes of other characters. */
const BEYOND_ASCII = /\\(?:u|U|x[89a-f])/i;
const LOOKAHEAD = / \(=.*$/;

type Rules = ReadonlyMap<string, readonly string[]>;

/**
 * Refuses a grammar that takes too long to compile, that has a set which the library gets wrong, or that leads to a part without an
 * end: a text in it would never be complete.
 *
 * @param printed As the library prints it, with a rule on each line.
 * @throws ResponseFormatUnsupportedError.
 */
export function checkGrammar(printed: string, vocabSize: number, param: string): void {
  const numPlaces = printed.match(WIDE_PLACE)?.length ?? 0;
  const maxPlaces = Math.floor(MAX_TRIALS / vocabSize);
  if (printed.length > MAX_LENGTH || numPlaces > maxPlaces)
    throw ResponseFormatUnsupportedError.of(
      param,
      `is too large: it has ${numPlaces} places for characters in ${printed.length} characters of grammar, and with this model's ` +
        `vocabulary at most ${maxPlaces} in ${MAX_LENGTH} are compiled`,
      'use smaller counts in patterns and grammars, or leave them out',
    );
  const wideSet = printed
    .match(PART)
    ?.find((part) => part.startsWith('[') && BEYOND_ASCII.test(part.replaceAll('\\\\', '')));
  if (wideSet !== undefined)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a set with characters beyond ASCII (${wideSet}), which can't be enforced`,
      'list the characters with |, or use a set such as [^a-z]',
    );
  const rules: Rules = new Map(
    Array.from(printed.matchAll(RULE), ([, name = '', body = '']) => [
      name,
      body.startsWith('TagDispatch') ? ['""'] : (body.replace(LOOKAHEAD, '').match(PART) ?? []),
    ]),
  );
  const ending = rulesThatEnd(rules);
  const endless = [...reachable(rules)].find((name) => !ending.has(name));
  if (endless !== undefined)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a part that can never end (${endless})`,
      'give each recursion a way out',
    );
}

/** The rules that have a finite text. */
function rulesThatEnd(rules: Rules): ReadonlySet<string> {
  const ending = new Set<string>();
  for (let before = -1; before < ending.size;) {
    before = ending.size;
    for (const [name, parts] of rules)
      if (!ending.has(name) && canEnd(parts, rules, ending)) ending.add(name);
  }
  return ending;
}

/** Whether some alternative has only parts that end. A stack of groups, each with its alternatives so far. */
function canEnd(parts: readonly string[], rules: Rules, ending: ReadonlySet<string>): boolean {
  const groups = [{ some: false, every: true, before: true }];
  for (const part of parts) {
    const group = groups.at(-1);
    if (!group) return false;
    if (part === '(') groups.push({ some: false, every: true, before: true });
    else if (part === '|') {
      group.some ||= group.every;
      group.every = true;
    } else if (part === ')') {
      groups.pop();
      add(groups.at(-1), group.some || group.every);
    } else if (part === '*' || part === '?' || part.startsWith('{0')) group.every = group.before;
    else if (part !== '+' && !part.startsWith('{')) add(group, !rules.has(part) || ending.has(part));
  }
  const [whole] = groups;
  return whole !== undefined && (whole.some || whole.every);
}

function add(group: { every: boolean; before: boolean } | undefined, ends: boolean): void {
  if (!group) return;
  group.before = group.every;
  group.every &&= ends;
}

function reachable(rules: Rules): ReadonlySet<string> {
  const found = new Set(['root']);
  // A set's loop comes to what is added meanwhile.
  for (const name of found) for (const part of rules.get(name) ?? []) if (rules.has(part)) found.add(part);
  return found;
}

/** @throws ResponseFormatUnsupportedError for a grammar that would take the library too much memory. */
export function checkEbnf(grammar: string, param: string): void {
  const skeleton = grammar.replaceAll(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]/g, '');
  const counts = countsIn(skeleton);
  if (counts.reduce((product, count) => product * Math.max(1, count), 1) > MAX_COUNTS)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has counts of more than ${MAX_COUNTS} together`,
      'use smaller counts, or * and +',
    );
  if (counts.some((count) => count > MAX_COUNT))
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a count of more than ${MAX_COUNT}`,
      'use a smaller count, * or +',
    );
  let depth = 0;
  for (const part of skeleton) {
    if (part === '(') depth += 1;
    if (part === ')') depth -= 1;
    if (depth > MAX_DEPTH)
      throw ResponseFormatUnsupportedError.of(
        param,
        `has more than ${MAX_DEPTH} groups inside each other`,
        'flatten it',
      );
  }
}

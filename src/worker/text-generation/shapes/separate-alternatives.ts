/** A text, a class or a name, each with its count; else what groups them. */
const PART = /(?:"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[\w.-]+)(?:\*|\{\d+(?:, ?\d*)?\})?|[()|]/g;
const CHARACTER = /\\x[\da-f]{2}|\\u[\da-f]{4}|\\U[\da-f]{8}|\\.|[^]/gu;
const RULE = /^(\S+) ::= (\(.*)$/;
const EMPTY = '""';

interface Rule {
  readonly name: string;
  readonly alternatives: readonly Alternative[];
  /** What must follow. */
  readonly lookahead: string;
}

/** Characters, classes and names. Empty for the empty text. */
type Alternative = readonly string[];

interface Grammar {
  readonly rules: ReadonlyMap<string, Rule>;
  /** A rule for the empty text: the library inlines no rule that names another. No name of the grammar has this in it. */
  readonly nothing: string;
}

/**
 * A grammar with the same texts, which the library compiles right. Its version 0.1.27 makes an automaton of each rule and merges states
 * that differ where alternatives begin alike (mlc-ai/xgrammar#618), or where one begins with a repeated class (#911): texts that mix
 * several pass. So what alternatives have in common stands before them, and what only begins alike has a rule of its own.
 *
 * @param printed As the library prints it: alternatives without groups inside.
 */
export function separateAlternatives(printed: string): string {
  const lines = printed.split('\n').map((line) => parseRule(line) ?? line);
  const rules = new Map(lines.flatMap((line) => (typeof line === 'string' ? [] : [[line.name, line]])));
  let nothing = 'nothing';
  while (printed.includes(nothing)) nothing += '_';
  const grammar = { rules, nothing };
  const separated = lines.map((line) => (typeof line === 'string' ? [line] : separate(line, grammar)));
  if (separated.every(({ length }) => length === 1)) return printed;
  return [...separated.flat(), `${nothing} ::= (${EMPTY})`].join('\n');
}

function parseRule(line: string): Rule | undefined {
  const [, name, body] = RULE.exec(line) ?? [];
  if (name === undefined || body === undefined) return undefined;
  const alternatives: string[][] = [[]];
  let depth = 0;
  for (const { 0: part, index } of body.matchAll(PART)) {
    if (part === '(') depth += 1;
    else if (part === ')') depth -= 1;
    else if (part === '|') alternatives.push([]);
    else alternatives.at(-1)?.push(...symbolsOf(part));
    if (depth === 0) return { name, alternatives, lookahead: body.slice(index + 1) };
  }
  return undefined;
}

function symbolsOf(part: string): readonly string[] {
  if (!/^".*"$/s.test(part)) return [part];
  return Array.from(part.slice(1, -1).matchAll(CHARACTER), ([character]) => `"${character}"`);
}

/** A rule as lines, and those that it needs. */
function separate({ name, alternatives, lookahead }: Rule, grammar: Grammar): readonly string[] {
  const own: (readonly string[])[] = [];
  const addRule = (rests: readonly Alternative[]): string => {
    const part = `${name}_${grammar.nothing}_${own.length}`;
    own.push(separate({ name: part, alternatives: rests, lookahead: '' }, grammar));
    return part;
  };
  const groups = Map.groupBy(alternatives, ([first = EMPTY]) => first);
  const factored = [...groups.values()].map((group): Alternative => {
    const [shortest = []] = group.toSorted((a, b) => a.length - b.length);
    if (group.length === 1) return shortest;
    const differs = shortest.findIndex((symbol, at) => group.some((other) => other[at] !== symbol));
    const length = differs < 0 ? shortest.length : differs;
    const rests = group.map((other) => other.slice(length));
    return rests.every((rest) => rest.length === 0)
      ? shortest
      : [...shortest.slice(0, length), addRule(rests)];
  });
  const beginnings = factored.flatMap((alternative) => beginningsOf(alternative, grammar));
  const isAlike = new Set(beginnings).size < beginnings.length;
  const texts = factored.map((alternative) => {
    const [first] = alternative;
    if (first === undefined) return EMPTY;
    const needsRule = isAlike || first.endsWith('*');
    return needsRule ? `(${addRule([[grammar.nothing, ...alternative]])})` : `(${alternative.join(' ')})`;
  });
  return [`${name} ::= (${texts.join(' | ')})${lookahead}`, ...own.flat()];
}

/** What an alternative begins with; where the library inlines a rule there, what that begins with. */
function beginningsOf([first]: Alternative, grammar: Grammar): readonly string[] {
  if (first === undefined) return [];
  const rule = grammar.rules.get(first);
  if (rule && isInlined(rule, grammar))
    return rule.alternatives.flatMap((alternative) => beginningsOf(alternative, grammar));
  // Characters beyond ASCII may share their first byte.
  return /^"\\[uUx]/.test(first) ? ['beyond ASCII'] : [first];
}

function isInlined({ alternatives }: Rule, { rules }: Grammar): boolean {
  return alternatives.every(
    (alternative) => alternative.length > 0 && !alternative.some((symbol) => rules.has(symbol)),
  );
}

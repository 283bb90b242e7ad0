import { ResponseFormatUnsupportedError } from '../../../batching/base/errors.ts';
import { characterOf, complement, union } from './character-set.ts';
import { endlessRuleOf, type Expression, type Expressions, type Rule } from './expressions.ts';
import { removeLeftRecursion } from './left-recursion.ts';
import type { Work } from './pace.ts';
import { Scanner } from './scanner.ts';

const MAX_RULES = 1000;

const BLANK = /(?:\s|#[^\r\n]*(?:[\r\n]|$))*/uy;
const NAME = /[A-Za-z_][\w.-]*/uy;
const HEAD = /([A-Za-z_][\w.-]*)(?:\s|#[^\r\n]*(?:[\r\n]|$))*::=/uy;
const COUNT = /([*+?])|\{\s*(\d+)\s*(?:(,)\s*(?:(\d+)\s*)?)?\}/uy;
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([nrtbfv0])|([^\w\s]))/uy;
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, 0: 0 };

/** The texts of a grammar, from its rule `root`. @throws ResponseFormatUnsupportedError. */
export function* parseGrammar(grammar: string, param: string, make: Expressions): Work<Expression> {
  const rules = yield* new GrammarParser(grammar, param, make).parse();
  const root = rules.get('root');
  if (!root) throw ResponseFormatUnsupportedError.of(param, 'has no rule named root', 'name the first root');
  const endless = yield* endlessRuleOf(root);
  if (endless)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a part that can never end (${endless.name})`,
      'give each recursion a way out',
    );
  yield* removeLeftRecursion([...rules.values()], make, param);
  return root;
}

class GrammarParser {
  readonly #scanner: Scanner;
  readonly #make: Expressions;
  readonly #rules = new Map<string, Rule>();

  constructor(grammar: string, param: string, make: Expressions) {
    this.#scanner = new Scanner(grammar, param);
    this.#make = make;
  }

  *parse(): Work<ReadonlyMap<string, Rule>> {
    const scanner = this.#scanner;
    scanner.match(BLANK);
    while (scanner.next !== '') {
      const [, name] = scanner.match(HEAD) ?? [];
      if (name === undefined) throw this.#error('expected name ::=');
      const rule = this.#ruleOf(name);
      if (rule.body) throw this.#error(`${name} has a rule already`);
      scanner.match(BLANK);
      rule.body = yield* this.#branches();
    }
    for (const [name, { body }] of this.#rules) if (!body) throw this.#error(`no rule is named ${name}`);
    return this.#rules;
  }

  #ruleOf(name: string): Rule {
    const rule = this.#rules.get(name) ?? this.#make.rule(name);
    this.#rules.set(name, rule);
    if (this.#rules.size > MAX_RULES)
      throw ResponseFormatUnsupportedError.of(
        this.#scanner.param,
        `has more than ${MAX_RULES} rules`,
        'use fewer',
      );
    return rule;
  }

  *#branches(): Work<Expression> {
    const scanner = this.#scanner;
    scanner.enter();
    const branches = [];
    let count = 1;
    do {
      scanner.match(BLANK);
      const parts: Expression[] = [];
      for (let part = yield* this.#repeated(); part; part = yield* this.#repeated()) {
        parts.push(part);
        count = Math.max(count, scanner.count);
        yield;
      }
      if (parts.length === 0) throw this.#error('a part is missing');
      branches.push(this.#make.sequence(parts));
    } while (scanner.take('|'));
    scanner.leave(count);
    return this.#make.choice(branches);
  }

  /** Undefined where the branch ends. */
  *#repeated(): Work<Expression | undefined> {
    let part = yield* this.#atom();
    for (;;) {
      this.#scanner.match(BLANK);
      const repeats = part && this.#scanner.repeats(COUNT);
      if (!part || !repeats) return part;
      part = this.#make.repeat(part, repeats.min, repeats.max);
    }
  }

  *#atom(): Work<Expression | undefined> {
    const scanner = this.#scanner;
    scanner.count = 1;
    if (scanner.take('"')) return this.#text();
    if (scanner.take('[')) return this.#class();
    if (scanner.take('(')) {
      const group = yield* this.#branches();
      if (!scanner.take(')')) throw this.#error('expected )');
      return group;
    }
    HEAD.lastIndex = scanner.at;
    if (HEAD.test(scanner.text)) return undefined;
    const [name] = scanner.match(NAME) ?? [];
    if (name !== undefined) return this.#ruleOf(name);
    if (/^[|)]?$/.test(scanner.next)) return undefined;
    throw this.#error(`unexpected ${scanner.next}`);
  }

  #text(): Expression {
    let text = '';
    while (!this.#scanner.take('"')) text += String.fromCodePoint(this.#code());
    return this.#make.text(text);
  }

  #class(): Expression {
    const { isNegated, ranges } = this.#scanner.set(
      () => this.#code(),
      (from, to = from) => {
        if (to < from) throw this.#error('a set goes from more to less');
        return [[from, to]];
      },
    );
    return characterOf(this.#make, isNegated ? complement(ranges) : union(ranges));
  }

  #code(): number {
    const scanner = this.#scanner;
    const found = scanner.match(ESCAPE);
    if (found) {
      const [, byte, unit, wide, control, itself = ''] = found;
      const hex = byte ?? unit ?? wide;
      const code = hex === undefined ? CONTROLS[control ?? ''] : parseInt(hex, 16);
      if (code !== undefined && code > 0x10_ffff) throw this.#error('no character has this number');
      return code ?? itself.codePointAt(0) ?? 0;
    }
    const code = scanner.text.codePointAt(scanner.at);
    if (code === undefined) throw this.#error('a text or a set has no end');
    const character = String.fromCodePoint(code);
    if (character === '\\') throw this.#error('unknown escape');
    if (character === '\n') throw this.#error('a line ends in a text or a set');
    scanner.at += character.length;
    return code;
  }

  #error(reason: string): ResponseFormatUnsupportedError {
    const lines = this.#scanner.text.slice(0, this.#scanner.at).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    return ResponseFormatUnsupportedError.of(
      this.#scanner.param,
      `can't be compiled (${place}: ${reason})`,
      'correct it',
    );
  }
}

import { ResponseFormatUnsupportedError } from '../../../batching/errors.ts';
import { characterOf, complement, union } from './character-set.ts';
import { endlessRuleOf, type Expression, type Expressions, type Rule } from './expressions.ts';
import { removeLeftRecursion } from './left-recursion.ts';
import { checkDepth, nestedCount } from './limits.ts';

const MAX_RULES = 1000;

const BLANK = /(?:\s|#[^\r\n]*(?:[\r\n]|$))*/uy;
const NAME = /[A-Za-z_][\w.-]*/uy;
const HEAD = /([A-Za-z_][\w.-]*)(?:\s|#[^\r\n]*(?:[\r\n]|$))*::=/uy;
const COUNT = /([*+?])|\{\s*(\d+)\s*(?:(,)\s*(?:(\d+)\s*)?)?\}/uy;
const ESCAPE = /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([nrtbfv0])|([^\w\s]))/uy;
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, b: 8, f: 12, v: 11, 0: 0 };

/** The texts of a grammar, from its rule `root`. Yields between its steps. @throws ResponseFormatUnsupportedError. */
export function* parseGrammar(
  grammar: string,
  param: string,
  make: Expressions,
): Generator<void, Expression> {
  const rules = new GrammarParser(grammar, param, make).parse();
  yield;
  const root = rules.get('root');
  if (!root) throw ResponseFormatUnsupportedError.of(param, 'has no rule named root', 'name the first root');
  const endless = endlessRuleOf(root);
  if (endless)
    throw ResponseFormatUnsupportedError.of(
      param,
      `has a part that can never end (${endless.name})`,
      'give each recursion a way out',
    );
  yield;
  removeLeftRecursion([...rules.values()], make, param);
  return root;
}

class GrammarParser {
  readonly #grammar: string;
  readonly #param: string;
  readonly #make: Expressions;
  readonly #rules = new Map<string, Rule>();
  #at = 0;
  #depth = 0;
  /** Of the part that was read last. */
  #count = 1;

  constructor(grammar: string, param: string, make: Expressions) {
    this.#grammar = grammar;
    this.#param = param;
    this.#make = make;
  }

  parse(): ReadonlyMap<string, Rule> {
    this.#match(BLANK);
    while (this.#at < this.#grammar.length) {
      const [, name] = this.#match(HEAD) ?? [];
      if (name === undefined) throw this.#error('expected name ::=');
      const rule = this.#ruleOf(name);
      if (rule.body) throw this.#error(`${name} has a rule already`);
      this.#match(BLANK);
      rule.body = this.#branches();
    }
    for (const [name, { body }] of this.#rules) if (!body) throw this.#error(`no rule is named ${name}`);
    return this.#rules;
  }

  #ruleOf(name: string): Rule {
    const rule = this.#rules.get(name) ?? this.#make.rule(name);
    this.#rules.set(name, rule);
    if (this.#rules.size > MAX_RULES)
      throw ResponseFormatUnsupportedError.of(this.#param, `has more than ${MAX_RULES} rules`, 'use fewer');
    return rule;
  }

  #branches(): Expression {
    checkDepth((this.#depth += 1), this.#param);
    const branches = [];
    let count = 1;
    do {
      this.#match(BLANK);
      const parts: Expression[] = [];
      for (let part = this.#repeated(); part; part = this.#repeated()) {
        parts.push(part);
        count = Math.max(count, this.#count);
      }
      if (parts.length === 0) throw this.#error('a part is missing');
      branches.push(this.#make.sequence(parts));
    } while (this.#take('|'));
    this.#depth -= 1;
    this.#count = count;
    return this.#make.choice(branches);
  }

  /** Undefined where the branch ends. */
  #repeated(): Expression | undefined {
    let part = this.#atom();
    for (;;) {
      this.#match(BLANK);
      const found = part && this.#match(COUNT);
      if (!part || !found) return part;
      const [, sign, from, comma, to] = found;
      const min = sign === undefined ? Number(from) : Number(sign === '+');
      const most = comma === undefined ? min : Infinity;
      const counted = to === undefined || to === '' ? most : Number(to);
      const unbounded = sign === '?' ? 1 : Infinity;
      const max = sign === undefined ? counted : unbounded;
      this.#count = nestedCount(this.#count, min, max, this.#param);
      part = this.#make.repeat(part, min, max);
    }
  }

  #atom(): Expression | undefined {
    this.#count = 1;
    if (this.#take('"')) return this.#text();
    if (this.#take('[')) return this.#class();
    if (this.#take('(')) {
      const group = this.#branches();
      if (!this.#take(')')) throw this.#error('expected )');
      return group;
    }
    HEAD.lastIndex = this.#at;
    if (HEAD.test(this.#grammar)) return undefined;
    const [name] = this.#match(NAME) ?? [];
    if (name !== undefined) return this.#ruleOf(name);
    if (this.#at === this.#grammar.length || /[|)]/.test(this.#grammar[this.#at] ?? '')) return undefined;
    throw this.#error(`unexpected ${this.#grammar[this.#at]}`);
  }

  #text(): Expression {
    let text = '';
    while (!this.#take('"')) text += String.fromCodePoint(this.#code());
    return this.#make.text(text);
  }

  #class(): Expression {
    const isNegated = this.#take('^');
    const ranges: (readonly [number, number])[] = [];
    while (!this.#take(']')) {
      const from = this.#code();
      const isSpan = this.#grammar[this.#at] === '-' && this.#grammar[this.#at + 1] !== ']';
      const to = isSpan && this.#take('-') ? this.#code() : from;
      if (to < from) throw this.#error('a set goes from more to less');
      ranges.push([from, to]);
    }
    return characterOf(this.#make, isNegated ? complement(ranges) : union(ranges));
  }

  #code(): number {
    const found = this.#match(ESCAPE);
    if (found) {
      const [, byte, unit, wide, control, itself = ''] = found;
      const hex = byte ?? unit ?? wide;
      const code = hex === undefined ? CONTROLS[control ?? ''] : parseInt(hex, 16);
      if (code !== undefined && code > 0x10_ffff) throw this.#error('no character has this number');
      return code ?? itself.codePointAt(0) ?? 0;
    }
    const code = this.#grammar.codePointAt(this.#at);
    if (code === undefined) throw this.#error('a text or a set has no end');
    const character = String.fromCodePoint(code);
    if (character === '\\') throw this.#error('unknown escape');
    if (character === '\n') throw this.#error('a line ends in a text or a set');
    this.#at += character.length;
    return code;
  }

  #take(text: string): boolean {
    const isNext = this.#grammar.startsWith(text, this.#at);
    if (isNext) this.#at += text.length;
    return isNext;
  }

  /** @param syntax Sticky. */
  #match(syntax: RegExp): RegExpExecArray | null {
    syntax.lastIndex = this.#at;
    const found = syntax.exec(this.#grammar);
    if (found) this.#at = syntax.lastIndex;
    return found;
  }

  #error(reason: string): ResponseFormatUnsupportedError {
    const lines = this.#grammar.slice(0, this.#at).split('\n');
    const place = `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
    return ResponseFormatUnsupportedError.of(
      this.#param,
      `can't be compiled (${place}: ${reason})`,
      'correct it',
    );
  }
}

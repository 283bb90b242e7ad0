import { tokenize } from './lexer.ts';
import type { Expression, Signature, Statement, Target } from './nodes.ts';
import { ExpressionParser } from './parse-expression.ts';
import { UnsupportedFeature } from './values.ts';

/** Tags of Jinja2 that chat templates have no use for: there is one template and nothing is escaped. */
const UNSUPPORTED_TAGS = ['block', 'extends', 'include', 'import', 'from', 'autoescape'];
const MAX_NESTING = 60;

/** @throws SyntaxError as Jinja2's; UnsupportedFeature for what Jinja2 renders and Tabserve doesn't. */
export function parse(template: string): readonly Statement[] {
  return new Parser(new ExpressionParser(tokenize(template))).parse();
}

class Parser {
  readonly #tokens: ExpressionParser;
  #depth = 0;

  constructor(tokens: ExpressionParser) {
    this.#tokens = tokens;
  }

  parse(): readonly Statement[] {
    const body = this.#parseBody([]);
    if (!this.#tokens.is('end')) throw this.#tokens.unexpected('the end of the template');
    return body;
  }

  /** Statements up to one of these tags, whose name comes next. */
  #parseBody(ends: readonly string[]): readonly Statement[] {
    if (this.#depth >= MAX_NESTING) throw new SyntaxError('its statements are too deep in each other');
    this.#depth += 1;
    const body: Statement[] = [];
    let parts: (string | Expression)[] = [];
    const flush = () => {
      if (parts.length > 0) body.push({ type: 'output', parts });
      parts = [];
    };
    while (!this.#tokens.is('end')) {
      if (this.#tokens.is('data')) parts.push(String(this.#tokens.next().value));
      else if (this.#tokens.skip('printStart')) {
        parts.push(this.#tokens.parseTuple());
        this.#tokens.expect('printEnd');
      } else {
        flush();
        this.#tokens.expect('blockStart');
        if (ends.length > 0 && this.#tokens.is('name', ...ends)) break;
        body.push(...this.#parseStatement());
        this.#tokens.expect('blockEnd');
      }
    }
    flush();
    if (ends.length > 0 && this.#tokens.is('end')) throw this.#tokens.unexpected(ends.join(' or '));
    this.#depth -= 1;
    return body;
  }

  /** The statements inside a tag's pair. The end tag is read. */
  #parseInner(end: string): readonly Statement[] {
    const body = this.#parseOpenBody([end]);
    this.#tokens.next();
    return body;
  }

  #parseOpenBody(ends: readonly string[]): readonly Statement[] {
    this.#tokens.skip('operator', ':');
    this.#tokens.expect('blockEnd');
    return this.#parseBody(ends);
  }

  #parseStatement(): readonly Statement[] {
    const tag = this.#tokens.expectName();
    switch (tag) {
      case 'if':
        return [this.#parseIf()];
      case 'for':
        return [this.#parseFor()];
      case 'set':
        return [this.#parseSet()];
      case 'with':
        return [this.#parseWith()];
      case 'print':
        return [{ type: 'output', parts: this.#parsePrinted() }];
      case 'macro':
        return [
          { type: 'macro', name: this.#tokens.expectName(), signature: this.#parseSignature('endmacro') },
        ];
      case 'call':
        return [this.#parseCall()];
      case 'filter':
        return [this.#parseFilterBlock()];
      case 'generation':
        // A call block of transformers, which has a scope of its own.
        return [{ type: 'with', bindings: [], body: this.#parseInner('endgeneration') }];
      case 'break':
      case 'continue':
        return [{ type: tag }];
      default:
        if (UNSUPPORTED_TAGS.includes(tag)) throw new UnsupportedFeature(`the tag ${tag}`);
        throw new SyntaxError(`Encountered unknown tag '${tag}'.`);
    }
  }

  #parsePrinted(): readonly Expression[] {
    const parts: Expression[] = [];
    while (!this.#tokens.is('blockEnd')) {
      if (parts.length > 0) this.#tokens.expect('operator', ',');
      parts.push(this.#tokens.parseExpression());
    }
    return parts;
  }

  #parseIf(): Statement {
    const branches: { readonly test: Expression; readonly body: readonly Statement[] }[] = [];
    let otherwise: readonly Statement[] = [];
    for (;;) {
      const test = this.#tokens.parseTuple(false);
      branches.push({ test, body: this.#parseOpenBody(['elif', 'else', 'endif']) });
      const end = this.#tokens.expectName();
      if (end === 'elif') continue;
      if (end === 'else') otherwise = this.#parseInner('endif');
      return { type: 'if', branches, otherwise };
    }
  }

  #parseFor(): Statement {
    const target = this.#parseTarget(false, ['in']);
    this.#tokens.expect('name', 'in');
    const items = this.#tokens.parseTuple(false, ['recursive']);
    const test = this.#tokens.skip('name', 'if') ? this.#tokens.parseExpression() : undefined;
    const isRecursive = this.#tokens.skip('name', 'recursive');
    const body = this.#parseOpenBody(['endfor', 'else']);
    const otherwise = this.#tokens.expectName() === 'else' ? this.#parseInner('endfor') : [];
    return { type: 'for', target, items, test, isRecursive, body, otherwise };
  }

  #parseSet(): Statement {
    const target = this.#parseTarget(true);
    if (this.#tokens.skip('operator', '=')) return { type: 'set', target, value: this.#tokens.parseTuple() };
    const filter = this.#tokens.parseFilter(undefined);
    return { type: 'setBlock', target, filter, body: this.#parseInner('endset') };
  }

  #parseWith(): Statement {
    const bindings: (readonly [Target, Expression])[] = [];
    while (!this.#tokens.is('blockEnd')) {
      if (bindings.length > 0) this.#tokens.expect('operator', ',');
      const target = this.#parseTarget(false);
      this.#tokens.expect('operator', '=');
      bindings.push([target, this.#tokens.parseExpression()]);
    }
    return { type: 'with', bindings, body: this.#parseInner('endwith') };
  }

  #parseCall(): Statement {
    const hasParams = this.#tokens.is('operator', '(');
    const [params, defaults] = hasParams ? this.#parseParams() : [[], []];
    const call = this.#tokens.parseExpression();
    if (call.type !== 'call') throw new SyntaxError('expected call');
    return { type: 'callBlock', call, signature: { params, defaults, body: this.#parseInner('endcall') } };
  }

  #parseFilterBlock(): Statement {
    const filter = this.#tokens.parseFilter(undefined, true);
    if (!filter) throw this.#tokens.unexpected('a filter');
    return { type: 'filterBlock', filter, body: this.#parseInner('endfilter') };
  }

  #parseSignature(end: string): Signature {
    const [params, defaults] = this.#parseParams();
    return { params, defaults, body: this.#parseInner(end) };
  }

  #parseParams(): readonly [readonly string[], readonly Expression[]] {
    const params: string[] = [];
    const defaults: Expression[] = [];
    this.#tokens.expect('operator', '(');
    while (!this.#tokens.skip('operator', ')')) {
      if (params.length > 0) this.#tokens.expect('operator', ',');
      params.push(this.#tokens.expectName());
      if (this.#tokens.skip('operator', '=')) defaults.push(this.#tokens.parseExpression());
      else if (defaults.length > 0) throw new SyntaxError('non-default argument follows default argument');
    }
    return [params, defaults];
  }

  #parseTarget(hasMembers: boolean, ends: readonly string[] = []): Target {
    const items: Target[] = [];
    let isTuple = false;
    while (!this.#tokens.is('blockEnd') && !(ends.length > 0 && this.#tokens.is('name', ...ends))) {
      items.push(this.#parseOneTarget(hasMembers));
      if (!this.#tokens.skip('operator', ',')) break;
      isTuple = true;
    }
    const [first] = items;
    if (!first) throw this.#tokens.unexpected('a name');
    return isTuple ? { type: 'tuple', items } : first;
  }

  #parseOneTarget(hasMembers: boolean): Target {
    if (hasMembers && this.#tokens.is('name') && this.#tokens.look().value === '.') {
      const name = this.#tokens.expectName();
      this.#tokens.next();
      return { type: 'member', name, member: this.#tokens.expectName() };
    }
    return targetOf(this.#tokens.parsePrimary());
  }
}

function targetOf(expression: Expression): Target {
  if (expression.type === 'name') return { type: 'name', name: expression.name };
  if (expression.type === 'tuple') return { type: 'tuple', items: expression.items.map(targetOf) };
  throw new SyntaxError(`can't assign to '${expression.type}'`);
}

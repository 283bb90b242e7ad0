import type { CallArguments, Expression, FilterExpression } from './nodes.ts';
import { TokenReader } from './token-reader.ts';

const MAX_NESTING = 100;
const COMPARISONS = ['==', '!=', '<', '<=', '>', '>='];
const CONSTANTS: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);
const NO_ARGUMENTS: CallArguments = { positional: [], named: [] };

/** Reads expressions, by Jinja2's own grammar. */
export class ExpressionParser extends TokenReader {
  #depth = 0;

  parseExpression(hasCondition = true): Expression {
    return this.#deeper(() => (hasCondition ? this.#parseCondition() : this.#parseOr()));
  }

  /** An expression, or several as a tuple. */
  parseTuple(hasCondition = true, ends: readonly string[] = [], isInParentheses = false): Expression {
    const items: Expression[] = [];
    let isTuple = false;
    while (!this.#isTupleEnd(ends)) {
      items.push(this.parseExpression(hasCondition));
      if (!this.skip('operator', ',')) break;
      isTuple = true;
    }
    const [first] = items;
    if (!isTuple && first) return first;
    if (!isTuple && !isInParentheses) throw this.unexpected('an expression');
    return { type: 'tuple', items };
  }

  #isTupleEnd(ends: readonly string[]): boolean {
    return (
      this.is('printEnd') ||
      this.is('blockEnd') ||
      this.is('operator', ')') ||
      (ends.length > 0 && this.is('name', ...ends))
    );
  }

  #parseCondition(): Expression {
    let result = this.#parseOr();
    while (this.skip('name', 'if')) {
      const test = this.#parseOr();
      const otherwise = this.skip('name', 'else') ? this.parseExpression() : undefined;
      result = { type: 'condition', test, value: result, otherwise };
    }
    return result;
  }

  #parseOr(): Expression {
    let left = this.#parseAnd();
    while (this.skip('name', 'or')) left = { type: 'or', left, right: this.#parseAnd() };
    return left;
  }

  #parseAnd(): Expression {
    let left = this.#parseNot();
    while (this.skip('name', 'and')) left = { type: 'and', left, right: this.#parseNot() };
    return left;
  }

  #parseNot(): Expression {
    let numNots = 0;
    while (this.skip('name', 'not')) numNots += 1;
    let value = this.#parseCompare();
    for (; numNots > 0; numNots -= 1) value = { type: 'unary', operator: 'not', value };
    return value;
  }

  #parseCompare(): Expression {
    const first = this.#parseSum();
    const rest: (readonly [string, Expression])[] = [];
    for (;;) {
      if (this.is('operator', ...COMPARISONS) || this.is('name', 'in')) {
        rest.push([String(this.next().value), this.#parseSum()]);
      } else if (this.is('name', 'not') && this.look().value === 'in') {
        this.next();
        this.next();
        rest.push(['not in', this.#parseSum()]);
      } else {
        return rest.length === 0 ? first : { type: 'compare', first, rest };
      }
    }
  }

  #parseBinary(operators: readonly string[], parse: () => Expression): Expression {
    let left = parse();
    while (this.is('operator', ...operators)) {
      const operator = String(this.next().value);
      left = { type: 'binary', operator, left, right: parse() };
    }
    return left;
  }

  #parseSum(): Expression {
    return this.#parseBinary(['+', '-'], () => this.#parseConcat());
  }

  #parseConcat(): Expression {
    const first = this.#parseProduct();
    const items = [first];
    while (this.skip('operator', '~')) items.push(this.#parseProduct());
    return items.length === 1 ? first : { type: 'concat', items };
  }

  #parseProduct(): Expression {
    return this.#parseBinary(['*', '/', '//', '%'], () => this.#parsePower());
  }

  #parsePower(): Expression {
    return this.#parseBinary(['**'], () => this.#parseUnary());
  }

  #parseUnary(hasFilters = true): Expression {
    let result: Expression;
    if (this.is('operator', '-', '+')) {
      const operator = this.next().value === '-' ? '-' : '+';
      result = { type: 'unary', operator, value: this.#deeper(() => this.#parseUnary(false)) };
    } else {
      result = this.parsePrimary();
    }
    result = this.#parsePostfix(result);
    return hasFilters ? this.#parseFilters(result) : result;
  }

  #deeper(parse: () => Expression): Expression {
    if (this.#depth >= MAX_NESTING) throw new SyntaxError('its expressions are too deep in each other');
    this.#depth += 1;
    const result = parse();
    this.#depth -= 1;
    return result;
  }

  parsePrimary(): Expression {
    const { current } = this;
    if (current.type === 'name') {
      this.next();
      const constant = CONSTANTS.get(current.value);
      return constant === undefined
        ? { type: 'name', name: current.value }
        : { type: 'constant', value: constant };
    }
    if (current.type === 'string') {
      let value = '';
      while (this.is('string')) value += String(this.next().value);
      return { type: 'constant', value };
    }
    if (current.type === 'integer' || current.type === 'float') {
      this.next();
      return { type: 'constant', value: current.value };
    }
    if (this.skip('operator', '(')) {
      const tuple = this.parseTuple(true, [], true);
      this.expect('operator', ')');
      return tuple;
    }
    if (this.skip('operator', '['))
      return { type: 'list', items: this.#parseItems(']', () => this.parseExpression()) };
    if (this.skip('operator', '{'))
      return { type: 'dict', pairs: this.#parseItems('}', () => this.#parsePair()) };
    throw this.unexpected('an expression');
  }

  #parsePair(): readonly [Expression, Expression] {
    const key = this.parseExpression();
    this.expect('operator', ':');
    return [key, this.parseExpression()];
  }

  #parseItems<Item>(end: string, parse: () => Item): readonly Item[] {
    const items: Item[] = [];
    while (!this.skip('operator', end)) {
      if (items.length > 0) {
        this.expect('operator', ',');
        if (this.skip('operator', end)) break;
      }
      items.push(parse());
    }
    return items;
  }

  #parsePostfix(object: Expression): Expression {
    let result = object;
    for (;;) {
      if (this.skip('operator', '.')) result = this.#parseMember(result);
      else if (this.skip('operator', '[')) result = this.#parseSubscript(result);
      else if (this.is('operator', '('))
        result = { type: 'call', callee: result, args: this.#parseArguments() };
      else return result;
    }
  }

  #parseMember(object: Expression): Expression {
    if (this.current.type === 'integer') {
      const { value } = this.current;
      this.next();
      return { type: 'item', object, key: { type: 'constant', value } };
    }
    return { type: 'attribute', object, name: this.expectName() };
  }

  #parseSubscript(object: Expression): Expression {
    const keys = this.#parseItems(']', () => this.#parseSubscribed());
    const [first] = keys;
    return { type: 'item', object, key: first && keys.length === 1 ? first : { type: 'tuple', items: keys } };
  }

  #parseSubscribed(): Expression {
    const bounds: (Expression | undefined)[] = [];
    const isEnd = () => this.is('operator', ':', ']', ',');
    const parseBound = () => (isEnd() ? undefined : this.parseExpression());
    const first = parseBound();
    if (first && !this.is('operator', ':')) return first;
    bounds.push(first);
    while (bounds.length < 3 && this.skip('operator', ':')) bounds.push(parseBound());
    return { type: 'slice', bounds };
  }

  #parseArguments(): CallArguments {
    this.expect('operator', '(');
    const positional: Expression[] = [];
    const named: (readonly [string, Expression])[] = [];
    let rest: Expression | undefined;
    let namedRest: Expression | undefined;
    this.#parseItems(')', () => {
      if (namedRest) throw new SyntaxError('invalid syntax for function call expression');
      if (this.skip('operator', '**')) namedRest = this.parseExpression();
      else if (this.is('name') && this.look().type === 'operator' && this.look().value === '=') {
        const name = this.expectName();
        this.expect('operator', '=');
        named.push([name, this.parseExpression()]);
      } else if (rest || (named.length > 0 && !this.is('operator', '*'))) {
        throw new SyntaxError('invalid syntax for function call expression');
      } else if (this.skip('operator', '*')) rest = this.parseExpression();
      else positional.push(this.parseExpression());
    });
    return { positional, named, ...(rest && { rest }), ...(namedRest && { namedRest }) };
  }

  #parseFilters(value: Expression): Expression {
    let result = value;
    for (;;) {
      if (this.is('operator', '|')) result = this.parseFilter(result) ?? result;
      else if (this.is('name', 'is')) result = this.#parseTest(result);
      else if (this.is('operator', '('))
        result = { type: 'call', callee: result, args: this.#parseArguments() };
      else return result;
    }
  }

  /** Filters of an expression, or of the text of a block, which may begin without a bar. */
  parseFilter(value: Expression | undefined, startsWithName = false): FilterExpression | undefined {
    let result: FilterExpression | undefined;
    let isFirst = startsWithName;
    while (isFirst || this.skip('operator', '|')) {
      isFirst = false;
      const name = this.#parseDottedName();
      const args = this.is('operator', '(') ? this.#parseArguments() : NO_ARGUMENTS;
      result = { type: 'filter', value: result ?? value, name, args };
    }
    return result;
  }

  #parseDottedName(): string {
    let name = this.expectName();
    while (this.skip('operator', '.')) name += `.${this.expectName()}`;
    return name;
  }

  #parseTest(value: Expression): Expression {
    this.next();
    const isNegated = this.skip('name', 'not');
    const name = this.#parseDottedName();
    const test: Expression = { type: 'test', value, name, args: this.#parseTestArguments() };
    return isNegated ? { type: 'unary', operator: 'not', value: test } : test;
  }

  #parseTestArguments(): CallArguments {
    if (this.is('operator', '(')) return this.#parseArguments();
    const begins =
      ['name', 'string', 'integer', 'float'].includes(this.current.type) || this.is('operator', '[', '{');
    if (!begins || this.is('name', 'else', 'or', 'and')) return NO_ARGUMENTS;
    if (this.is('name', 'is')) throw new SyntaxError('You cannot chain multiple tests with is');
    return { positional: [this.#parsePostfix(this.parsePrimary())], named: [] };
  }
}

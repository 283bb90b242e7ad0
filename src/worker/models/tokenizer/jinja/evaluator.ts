import { binary, unary } from './arithmetic.ts';
import { allocate, nested, sized } from './bounds.ts';
import { compare } from './compare.ts';
import { Dict, Tuple } from './containers.ts';
import { filterOf } from './filters.ts';
import { memberOf, Slice, spendTexts, subscript } from './members.ts';
import type { CallArguments, Expression, FilterExpression } from './nodes.ts';
import { str } from './print.ts';
import type { Scope } from './scope.ts';
import { testOf } from './tests.ts';
import {
  bind,
  Callable,
  isTrue,
  iterate,
  TemplateError,
  typeName,
  Undefined,
  type Arguments,
  type Value,
} from './values.ts';

/** Computes expressions as Python does. */
export class Evaluator {
  /** @throws TemplateError, UnsupportedFeature, RangeError. */
  evaluate(expression: Expression, scope: Scope): Value {
    return nested(() => this.#evaluate(expression, scope));
  }

  #evaluate(expression: Expression, scope: Scope): Value {
    const valueOf = (part: Expression) => this.evaluate(part, scope);
    switch (expression.type) {
      case 'constant':
        return expression.value;
      case 'name':
        return scope.get(expression.name);
      case 'list':
      case 'tuple': {
        allocate(expression.items.length);
        const items = expression.items.map(valueOf);
        return expression.type === 'list' ? items : new Tuple(items);
      }
      case 'concat':
        return expression.items.reduce((text, item) => sized(text + str(valueOf(item))), '');
      case 'dict':
        allocate(expression.pairs.length);
        return new Dict(expression.pairs.map(([key, value]) => [valueOf(key), valueOf(value)]));
      case 'attribute':
        return memberOf(valueOf(expression.object), expression.name);
      case 'item':
        return subscript(valueOf(expression.object), valueOf(expression.key));
      case 'slice':
        return new Slice(expression.bounds.map((bound) => bound && valueOf(bound)));
      case 'call':
        return this.call(expression, scope);
      case 'filter':
        return this.#callFilter(
          expression.name,
          expression.value ? valueOf(expression.value) : null,
          this.#arguments(expression.args, scope),
        );
      case 'test':
        return this.test(expression.name, valueOf(expression.value), this.#arguments(expression.args, scope));
      case 'unary':
      case 'and':
      case 'or':
      case 'binary':
      case 'compare':
      case 'condition':
        return this.#compute(expression, valueOf);
    }
  }

  #compute(
    expression: Extract<Expression, { type: 'unary' | 'and' | 'or' | 'binary' | 'compare' | 'condition' }>,
    valueOf: (part: Expression) => Value,
  ): Value {
    switch (expression.type) {
      case 'unary': {
        const value = valueOf(expression.value);
        return expression.operator === 'not' ? !isTrue(value) : unary(expression.operator, value);
      }
      case 'and':
      case 'or': {
        const left = valueOf(expression.left);
        return isTrue(left) === (expression.type === 'and') ? valueOf(expression.right) : left;
      }
      case 'binary':
        return binary(expression.operator, valueOf(expression.left), valueOf(expression.right));
      case 'condition':
        if (isTrue(valueOf(expression.test))) return valueOf(expression.value);
        return expression.otherwise
          ? valueOf(expression.otherwise)
          : new Undefined('the inline if-expression evaluated to false and no else section was defined.');
      case 'compare': {
        let left = valueOf(expression.first);
        for (const [operator, operand] of expression.rest) {
          const right = valueOf(operand);
          if (!compare(operator, left, right)) return false;
          left = right;
        }
        return true;
      }
    }
  }

  /** A call, as that of a call block with its text as `caller`. */
  call(expression: Expression, scope: Scope, caller?: Value): Value {
    if (expression.type !== 'call') throw new SyntaxError('expected call');
    const callee = this.evaluate(expression.callee, scope);
    const { positional, named } = this.#arguments(expression.args, scope);
    if (callee instanceof Undefined) callee.fail();
    if (!(callee instanceof Callable))
      throw new TemplateError(`'${typeName(callee)}' object is not callable`);
    return callee.call({
      positional,
      named: caller === undefined ? named : new Map([...named, ['caller', caller]]),
    });
  }

  #arguments({ positional, named, rest, namedRest }: CallArguments, scope: Scope): Arguments {
    const values = positional.map((arg) => this.evaluate(arg, scope));
    const byName = new Map(named.map(([name, arg]): [string, Value] => [name, this.evaluate(arg, scope)]));
    if (rest) values.push(...iterate(this.evaluate(rest, scope)));
    if (!namedRest) return { positional: values, named: byName };
    const mapping = this.evaluate(namedRest, scope);
    if (!(mapping instanceof Dict)) throw new TemplateError('argument after ** must be a mapping');
    for (const [name, value] of mapping.entries) byName.set(str(name), value);
    return { positional: values, named: byName };
  }

  /** Filters of the text of a block. */
  filterBlock({ value, name, args }: FilterExpression, scope: Scope, text: string): Value {
    const inner = value?.type === 'filter' ? this.filterBlock(value, scope, text) : text;
    return this.#callFilter(name, inner, this.#arguments(args, scope));
  }

  #callFilter(name: string, value: Value, args: Arguments): Value {
    const filter = filterOf(name);
    if (!filter) throw new TemplateError(`No filter named '${name}'.`);
    spendTexts([value, ...args.positional, ...args.named.values()]);
    return filter.run(value, filter.params ? bind(name, filter.params, args) : [], args, {
      filter: (other, item, given) => nested(() => this.#callFilter(other, item, given)),
      test: (other, item, given) => this.test(other, item, given),
    });
  }

  test(name: string, value: Value, args: Arguments): boolean {
    const test = testOf(name);
    if (!test) throw new TemplateError(`No test named '${name}'.`);
    return test.run(value, bind(name, test.params, args));
  }
}

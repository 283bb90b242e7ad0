import { allocate, nested, sized } from './bounds.ts';
import { filtered, Loop } from './loop.ts';
import { Evaluator } from './evaluator.ts';
import { Macro } from './macro.ts';
import type { ForStatement, Signature, Statement, Target } from './nodes.ts';
import { Namespace } from './containers.ts';
import { requireText } from './text-methods.ts';
import { str } from './print.ts';
import type { Scope } from './scope.ts';
import { TemplateError, Undefined, isTrue, iterate, listOf, orElse, type Value } from './values.ts';

/** How a list of statements ends. */
type Outcome = 'done' | 'break' | 'continue';

/** Collects what statements print. */
class Output {
  readonly #parts: string[] = [];

  write(text: string): void {
    allocate(text.length);
    this.#parts.push(text);
  }

  toString(): string {
    const length = this.#parts.reduce((sum, part) => sum + part.length, 0);
    allocate(length);
    return this.#parts.join('');
  }
}

/** Runs a template's statements. Scopes are Jinja2's: loops, macros and blocks have their own, `if` has none. */
export class Interpreter {
  readonly #evaluator = new Evaluator();

  /** @throws TemplateError, UnsupportedFeature, RangeError. */
  render(body: readonly Statement[], scope: Scope): string {
    const output = new Output();
    this.#run(body, scope, output);
    return output.toString();
  }

  #run(body: readonly Statement[], scope: Scope, output: Output): Outcome {
    for (const statement of body) {
      const outcome = nested(() => this.#runOne(statement, scope, output));
      if (outcome !== 'done') return outcome;
    }
    return 'done';
  }

  #runOne(statement: Statement, scope: Scope, output: Output): Outcome {
    switch (statement.type) {
      case 'output':
        for (const part of statement.parts)
          output.write(typeof part === 'string' ? part : str(this.#evaluator.evaluate(part, scope)));
        return 'done';
      case 'if': {
        const branch = statement.branches.find(({ test }) => isTrue(this.#evaluator.evaluate(test, scope)));
        return this.#run(branch?.body ?? statement.otherwise, scope, output);
      }
      case 'for':
        output.write(this.#loop(statement, this.#evaluator.evaluate(statement.items, scope), scope, 0));
        return 'done';
      case 'with': {
        const inner = scope.inner();
        for (const [target, value] of statement.bindings)
          assign(target, this.#evaluator.evaluate(value, scope), inner);
        return this.#run(statement.body, inner, output);
      }
      case 'break':
      case 'continue':
        return statement.type;
      case 'set':
      case 'setBlock':
      case 'macro':
      case 'callBlock':
      case 'filterBlock':
        this.#define(statement, scope, output);
        return 'done';
    }
  }

  #define(
    statement: Extract<Statement, { type: 'set' | 'setBlock' | 'macro' | 'callBlock' | 'filterBlock' }>,
    scope: Scope,
    output: Output,
  ): void {
    switch (statement.type) {
      case 'set':
        assign(statement.target, this.#evaluator.evaluate(statement.value, scope), scope);
        break;
      case 'setBlock': {
        const text = this.render(statement.body, scope.inner());
        const { filter } = statement;
        assign(statement.target, filter ? this.#evaluator.filterBlock(filter, scope, text) : text, scope);
        break;
      }
      case 'filterBlock': {
        const text = this.render(statement.body, scope.inner());
        output.write(requireText(this.#evaluator.filterBlock(statement.filter, scope, text)));
        break;
      }
      case 'macro':
        scope.set(statement.name, this.#macro(statement.name, statement.signature, scope));
        break;
      case 'callBlock': {
        const caller = this.#macro(undefined, statement.signature, scope);
        output.write(requireText(this.#evaluator.call(statement.call, scope, caller)));
        break;
      }
    }
  }

  #macro(name: string | undefined, signature: Signature, scope: Scope): Macro {
    const { params, defaults, body } = signature;
    const numRequired = params.length - defaults.length;
    return new Macro(name, signature, (variables) => {
      const inner = scope.inner();
      for (const [variable, value] of variables) {
        const fallback = defaults[params.indexOf(variable) - numRequired];
        inner.set(
          variable,
          orElse(value, () =>
            fallback
              ? this.#evaluator.evaluate(fallback, inner)
              : new Undefined(`parameter '${variable}' was not provided`),
          ),
        );
      }
      return this.render(body, inner);
    });
  }

  #loop(statement: ForStatement, items: Value, scope: Scope, depth: number): string {
    const { target, test, body, otherwise, isRecursive } = statement;
    const isKept = (item: Value): boolean => {
      const inner = scope.inner();
      assign(target, item, inner);
      return !test || isTrue(this.#evaluator.evaluate(test, inner));
    };
    const loop = new Loop(
      test ? null : items,
      test ? filtered(items, isKept) : iterate(items),
      depth,
      isRecursive ? (others, level) => this.#loop(statement, others, scope, level) : undefined,
    );
    const output = new Output();
    // Jinja2 runs the `else` too where every round ended early.
    let isElse = true;
    while (loop.advance()) {
      const inner = scope.inner();
      assign(target, loop.current, inner);
      inner.set('loop', loop);
      const outcome = this.#run(body, inner, output);
      if (outcome === 'break') break;
      if (outcome === 'done') isElse = false;
    }
    if (isElse) this.#run(otherwise, scope.inner(), output);
    return sized(output.toString());
  }
}

/** @throws TemplateError for a value with another number of items, or a namespace that isn't one. */
function assign(target: Target, value: Value, scope: Scope): void {
  if (target.type === 'name') {
    scope.set(target.name, value);
  } else if (target.type === 'member') {
    const namespace = scope.get(target.name);
    if (!(namespace instanceof Namespace))
      throw new TemplateError('cannot assign attribute on non-namespace object');
    namespace.set(target.member, value);
  } else {
    const items = listOf(value);
    if (items.length !== target.items.length)
      throw new TemplateError(
        items.length < target.items.length
          ? `not enough values to unpack (expected ${target.items.length}, got ${items.length})`
          : `too many values to unpack (expected ${target.items.length})`,
      );
    target.items.forEach((inner, i) => assign(inner, items[i] ?? null, scope));
  }
}

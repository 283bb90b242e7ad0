import type { CallArguments, Expression, Signature, Statement } from './nodes.ts';

/** The expressions directly in an expression. */
export function partsOf(expression: Expression): readonly Expression[] {
  switch (expression.type) {
    case 'list':
    case 'tuple':
    case 'concat':
      return expression.items;
    case 'dict':
      return expression.pairs.flat();
    case 'attribute':
      return [expression.object];
    case 'item':
      return [expression.object, expression.key];
    case 'slice':
      return expression.bounds.filter((bound) => bound !== undefined);
    case 'call':
      return [expression.callee, ...valuesOf(expression.args)];
    case 'filter':
      return [...(expression.value ? [expression.value] : []), ...valuesOf(expression.args)];
    case 'test':
      return [expression.value, ...valuesOf(expression.args)];
    case 'unary':
      return [expression.value];
    case 'and':
    case 'or':
    case 'binary':
      return [expression.left, expression.right];
    case 'compare':
      return [expression.first, ...expression.rest.map(([, operand]) => operand)];
    case 'condition':
      return [expression.test, expression.value, ...(expression.otherwise ? [expression.otherwise] : [])];
    case 'constant':
    case 'name':
      return [];
  }
}

function valuesOf({ positional, named, rest, namedRest }: CallArguments): readonly Expression[] {
  const values = [...positional, ...named.map(([, value]) => value)];
  return [...values, ...[rest, namedRest].filter((value) => value !== undefined)];
}

/** The expressions and the statements directly in a statement. */
export function childrenOf(statement: Statement): {
  readonly expressions: readonly Expression[];
  readonly bodies: readonly (readonly Statement[])[];
} {
  switch (statement.type) {
    case 'output':
      return { expressions: statement.parts.filter((part) => typeof part !== 'string'), bodies: [] };
    case 'if':
      return {
        expressions: statement.branches.map(({ test }) => test),
        bodies: [...statement.branches.map(({ body }) => body), statement.otherwise],
      };
    case 'for':
      return {
        expressions: [statement.items, ...(statement.test ? [statement.test] : [])],
        bodies: [statement.body, statement.otherwise],
      };
    case 'set':
      return { expressions: [statement.value], bodies: [] };
    case 'setBlock':
      return { expressions: statement.filter ? [statement.filter] : [], bodies: [statement.body] };
    case 'macro':
      return { expressions: statement.signature.defaults, bodies: [statement.signature.body] };
    case 'callBlock':
      return {
        expressions: [statement.call, ...statement.signature.defaults],
        bodies: [statement.signature.body],
      };
    case 'filterBlock':
      return { expressions: [statement.filter], bodies: [statement.body] };
    case 'with':
      return { expressions: statement.bindings.map(([, value]) => value), bodies: [statement.body] };
    case 'break':
    case 'continue':
      return { expressions: [], bodies: [] };
  }
}

/** The names that a macro reads. */
export function namesIn({ defaults, body }: Signature): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (expression: Expression): void => {
    if (expression.type === 'name') names.add(expression.name);
    partsOf(expression).forEach(visit);
  };
  const visitAll = (statements: readonly Statement[]): void => {
    for (const statement of statements) {
      const { expressions, bodies } = childrenOf(statement);
      expressions.forEach(visit);
      bodies.forEach(visitAll);
    }
  };
  defaults.forEach(visit);
  visitAll(body);
  return names;
}

import { filterOf } from './filters.ts';
import { UNSUPPORTED_GLOBALS } from './globals.ts';
import { unknownDirective } from './format-date.ts';
import { UNSUPPORTED_METHODS } from './members.ts';
import { childrenOf, partsOf } from './names.ts';
import type { CallArguments, Expression, Statement, Target } from './nodes.ts';
import { testOf } from './tests.ts';
import { UnsupportedFeature } from './values.ts';

/** Filters of Jinja2 that chat templates have no use for: they write HTML, wrap lines or depend on chance. */
const UNSUPPORTED_FILTERS = [
  'filesizeformat',
  'pprint',
  'random',
  'striptags',
  'urlize',
  'wordwrap',
  'xmlattr',
];

/**
 * Checks a template before its first rendering.
 *
 * @throws UnsupportedFeature for what Jinja2 renders and Tabserve doesn't.
 * @throws SyntaxError for a filter or a test that Jinja2 doesn't know either, where no `if` may leave it out.
 */
export function requireSupport(body: readonly Statement[], isOptional = false, isInLoop = false): void {
  for (const statement of body) {
    const { expressions, bodies } = childrenOf(statement);
    const isLoop = isInLoop || statement.type === 'for';
    if (isLoop && 'target' in statement && isNamed(statement.target, 'loop'))
      throw new SyntaxError("Can't assign to special loop variable in for-loop target.");
    // Jinja2 then gives the loop around it no `loop` either.
    if (isLoop && statement.type === 'with' && statement.bindings.some(([target]) => isNamed(target, 'loop')))
      throw new UnsupportedFeature('a variable loop in the tag with');
    for (const expression of expressions) checkExpression(expression, isOptional);
    for (const inner of bodies) requireSupport(inner, statement.type === 'if', isLoop);
  }
}

function checkExpression(expression: Expression, isOptional: boolean): void {
  if (expression.type === 'filter') checkFilter(expression.name, expression.args, isOptional);
  if (expression.type === 'test') checkTest(expression.name, isOptional);
  if (expression.type === 'name' && UNSUPPORTED_GLOBALS.includes(expression.name))
    throw new UnsupportedFeature(`the function ${expression.name}`);
  if (expression.type === 'name' && expression.name === 'self') throw new UnsupportedFeature('the name self');
  if (expression.type === 'call') checkCall(expression.callee, expression.args);
  const isSoft = isOptional || expression.type === 'condition';
  for (const part of partsOf(expression)) checkExpression(part, isSoft);
}

function isNamed(target: Target, name: string): boolean {
  return target.type === 'tuple'
    ? target.items.some((item) => isNamed(item, name))
    : target.type === 'name' && target.name === name;
}

function checkFilter(name: string, args: CallArguments, isOptional: boolean): void {
  if (UNSUPPORTED_FILTERS.includes(name)) throw new UnsupportedFeature(`the filter ${name}`);
  if (!filterOf(name) && !isOptional) throw new SyntaxError(`No filter named '${name}'.`);
  const inner = textAt(args, 0);
  if (name === 'map' && inner !== undefined && UNSUPPORTED_FILTERS.includes(inner))
    throw new UnsupportedFeature(`the filter ${inner}`);
}

function checkTest(name: string, isOptional: boolean): void {
  if (!testOf(name) && !isOptional) throw new SyntaxError(`No test named '${name}'.`);
}

function checkCall(callee: Expression, args: CallArguments): void {
  if (callee.type === 'attribute' && UNSUPPORTED_METHODS.has(callee.name))
    throw new UnsupportedFeature(`the method ${callee.name}`);
  const format = textAt(args, 0);
  if (callee.type !== 'name' || callee.name !== 'strftime_now' || format === undefined) return;
  const directive = unknownDirective(format);
  if (directive !== undefined) throw new UnsupportedFeature(`the directive ${directive} of strftime_now`);
}

function textAt({ positional }: CallArguments, index: number): string | undefined {
  const arg = positional[index];
  return arg?.type === 'constant' && typeof arg.value === 'string' ? arg.value : undefined;
}

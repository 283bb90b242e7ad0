import { Dict, Tuple } from './containers.ts';
import type { Signature } from './nodes.ts';
import { namesIn } from './names.ts';
import { quote } from './print.ts';
import { Callable, TemplateError, Undefined, type Arguments, type Value } from './values.ts';

/** Variables that a macro has when its body names them. */
const SPECIAL = ['caller', 'kwargs', 'varargs'] as const;

/** Attributes that tell whether a macro takes one of them. */
const FLAGS: Readonly<Record<string, (typeof SPECIAL)[number]>> = {
  caller: 'caller',
  catch_kwargs: 'kwargs',
  catch_varargs: 'varargs',
};

/** Undefined for a parameter that gets its default, which may name those before it. */
export type MacroVariables = readonly (readonly [string, Value | undefined])[];

export class Macro extends Callable {
  override readonly typeName = 'Macro';
  readonly #label: string | undefined;
  readonly #params: readonly string[];
  readonly #used: ReadonlySet<string>;

  constructor(
    label: string | undefined,
    signature: Signature,
    invoke: (variables: MacroVariables) => string,
  ) {
    const used = namesIn(signature);
    super(label ?? 'caller', (args) => invoke(variablesOf(label ?? 'None', signature.params, used, args)));
    this.#label = label;
    this.#params = signature.params;
    this.#used = used;
  }

  override attribute(name: string): Value | undefined {
    if (name === 'name') return this.#label ?? null;
    if (name === 'arguments') return new Tuple(this.#params);
    const special = FLAGS[name];
    return special && (this.#used.has(special) || this.#params.includes(special));
  }

  override repr(): string {
    return `<Macro ${this.#label === undefined ? 'anonymous' : quote(this.#label)}>`;
  }
}

function variablesOf(
  label: string,
  params: readonly string[],
  used: ReadonlySet<string>,
  { positional, named }: Arguments,
): MacroVariables {
  const rest = new Map(named);
  const variables = params.map((param, i): readonly [string, Value | undefined] => {
    if (i < positional.length) return [param, positional[i]];
    const value = rest.get(param);
    rest.delete(param);
    return [param, value];
  });
  const [usesCaller, usesNamed, usesRest] = SPECIAL.map((name) => used.has(name) && !params.includes(name));
  const special: (readonly [string, Value])[] = [];
  if (usesCaller) {
    special.push(['caller', rest.get('caller') ?? new Undefined('No caller defined')]);
    rest.delete('caller');
  }
  if (usesNamed) special.push(['kwargs', new Dict(rest)]);
  const [odd] = rest.keys();
  if (!usesNamed && odd !== undefined)
    throw new TemplateError(`macro '${label}' takes no keyword argument '${odd}'`);
  if (usesRest) special.push(['varargs', new Tuple(positional.slice(params.length))]);
  else if (positional.length > params.length)
    throw new TemplateError(`macro '${label}' takes not more than ${params.length} argument(s)`);
  return [...special, ...variables];
}

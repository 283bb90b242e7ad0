import { bounded, MAX_VALUE_SIZE } from './bounds.ts';
import { GLOBALS } from './globals.ts';
import { Interpreter } from './interpreter.ts';
import { parse } from './parse.ts';
import { fieldsOf } from './read-value.ts';
import { Scope } from './scope.ts';
import { requireSupport } from './support.ts';
import type { Statement } from './nodes.ts';

/**
 * A Jinja template as huggingface/transformers renders it. It ends: an endless loop, or a value without end, is an error.
 */
export class Template {
  readonly #body: readonly Statement[];

  /** @throws SyntaxError as Jinja2's; UnsupportedFeature; RangeError for a template of too many characters. */
  constructor(source: string) {
    if (source.length > MAX_VALUE_SIZE)
      throw new RangeError(`it has more than ${MAX_VALUE_SIZE.toLocaleString('en')} characters`);
    this.#body = parse(source);
    requireSupport(this.#body);
  }

  /**
   * Later variables replace earlier ones. They are given as they were read, since `spellingOf` knows a number by what holds it.
   *
   * @throws TemplateError for the template's own errors; UnsupportedFeature; RangeError if it takes too much.
   */
  render(...variables: readonly Readonly<Record<string, unknown>>[]): string {
    return bounded(() => {
      const context = new Map([...GLOBALS, ...variables.flatMap(fieldsOf)]);
      return new Interpreter().render(this.#body, new Scope(context).inner());
    });
  }
}

export { TemplateError, UnsupportedFeature } from './values.ts';

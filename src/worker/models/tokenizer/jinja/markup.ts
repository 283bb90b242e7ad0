import { sized } from './bounds.ts';
import { quote, str } from './print.ts';
import { charactersOf, PyObject, type Value } from './values.ts';

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
};

/** A text that `safe` or `escape` has marked: others are escaped where they are added to it. */
export class Markup extends PyObject {
  readonly typeName = 'Markup';
  readonly #text: string;

  constructor(text: string) {
    super();
    this.#text = sized(text);
  }

  static escape(value: Value): Markup {
    return value instanceof Markup
      ? value
      : new Markup(str(value).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character));
  }

  override text(): string {
    return this.#text;
  }

  repr(): string {
    return `Markup(${quote(this.#text)})`;
  }

  override iterate(): Iterable<Value> {
    return this.#text;
  }

  override size(): number {
    return charactersOf(this.#text).length;
  }
}

import type { ArgumentsReader } from './arguments-reader.ts';
import { escaped } from './json-escapes.ts';

const CLOSES: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['[', ']'],
]);

/** Arguments that are a JSON object. Control characters in its texts are escaped. */
export class JsonArguments implements ArgumentsReader {
  /** What closes the objects and lists that are open. */
  readonly #open: string[] = [];
  #isInString = false;
  #isEscaped = false;

  push(text: string): ReturnType<ArgumentsReader['push']> {
    let json = '';
    let written = 0;
    for (let index = 0; index < text.length; index += 1) {
      const character = text.charAt(index);
      if (this.#isInString && character < ' ') {
        // Behind a backslash only the rest of the escape is missing.
        json += text.slice(written, index) + escaped(character).slice(this.#isEscaped ? 1 : 0);
        written = index + 1;
      }
      if (this.#endsAt(character))
        return { json: json + text.slice(written, index + 1), rest: text.slice(index + 1) };
    }
    return { json: json + text.slice(written) };
  }

  #endsAt(character: string): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
      return false;
    }
    const close = CLOSES.get(character);
    if (character === '"') this.#isInString = true;
    else if (close !== undefined) this.#open.push(close);
    else return this.#closesAt(character);
    return false;
  }

  /** A bracket that closes nothing doesn't end the arguments; one that comes too early ends what is open inside, too. */
  #closesAt(character: string): boolean {
    const at = this.#open.lastIndexOf(character);
    if (at < 0) return false;
    this.#open.length = at;
    return at === 0;
  }
}

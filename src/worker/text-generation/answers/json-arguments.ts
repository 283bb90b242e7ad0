import type { ArgumentsReader } from './arguments-reader.ts';

/** Arguments that are a JSON object. */
export class JsonArguments implements ArgumentsReader {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;

  push(text: string): ReturnType<ArgumentsReader['push']> {
    for (let index = 0; index < text.length; index += 1) {
      if (this.#endsAt(text[index])) return { json: text.slice(0, index + 1), rest: text.slice(index + 1) };
    }
    return { json: text };
  }

  #endsAt(character: string | undefined): boolean {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (character === '\\') this.#isEscaped = true;
      else if (character === '"') this.#isInString = false;
      return false;
    }
    if (character === '"') this.#isInString = true;
    else if (character === '{' || character === '[') this.#depth += 1;
    else if (character === '}' || character === ']') this.#depth -= 1;
    else return false;
    return this.#depth === 0 && !this.#isInString;
  }
}

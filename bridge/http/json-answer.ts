import { answerNotJson } from '../../src/protocol/errors/deployment-messages.ts';

/**
 * What a deployment answered, as values that JSON has. Typed arrays become lists, dates texts, and a bigint a number if no digit is
 * lost. As in JSON, undefined is left out of an object, and null elsewhere.
 *
 * @throws AnswerNotJsonError for any other value that JSON would change, by its place.
 */
export function jsonAnswer(answer: unknown): unknown {
  return new AnswerReader().read(answer) ?? null;
}

class AnswerReader {
  /** The way to the value that is read. */
  readonly #steps: string[] = [];
  /** The objects on the way. */
  readonly #outer = new Set<object>();

  read(value: unknown): unknown {
    if (typeof value === 'number') return Number.isFinite(value) ? value : this.#refuse(String(value));
    if (typeof value === 'bigint') return this.#readInteger(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? this.#refuse('an invalid Date') : value;
    if (this.#outer.has(value)) return this.#refuse('a part of itself');
    this.#outer.add(value);
    const read = this.#readParts(value);
    this.#outer.delete(value);
    return read;
  }

  #readParts(value: object): unknown {
    if (Array.isArray(value) || isTypedArray(value))
      return Array.from<unknown, unknown>(value, (part, index) => this.#step(`[${index}]`, part));
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== null && prototype !== Object.prototype)
      return this.#refuse(`of the class ${value.constructor.name}`);
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, this.#step(`.${name}`, part)]),
    );
  }

  #step(step: string, part: unknown): unknown {
    this.#steps.push(step);
    const read = this.read(part);
    this.#steps.pop();
    return read;
  }

  #readInteger(value: bigint): unknown {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : this.#refuse(`${value}, which readers of JSON round`);
  }

  #refuse(what: string): never {
    throw answerNotJson(this.#steps.join(''), what);
  }
}

function isTypedArray(value: object): value is Iterable<number | bigint> & ArrayBufferView {
  return ArrayBuffer.isView(value) && Symbol.iterator in value;
}

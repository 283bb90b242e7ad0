import type { Token } from './lexer.ts';

const END: Token = { type: 'end', value: '' };

/** Walks through a template's tokens. */
export class TokenReader {
  readonly #tokens: readonly Token[];
  #position = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#position] ?? END;
  }

  look(): Token {
    return this.#tokens[this.#position + 1] ?? END;
  }

  next(): Token {
    const { current } = this;
    this.#position += 1;
    return current;
  }

  is(type: Token['type'], ...values: readonly string[]): boolean {
    const { current } = this;
    return current.type === type && (values.length === 0 || values.includes(String(current.value)));
  }

  skip(type: Token['type'], ...values: readonly string[]): boolean {
    const isIt = this.is(type, ...values);
    if (isIt) this.#position += 1;
    return isIt;
  }

  expect(type: Token['type'], ...values: readonly string[]): Token {
    if (!this.is(type, ...values)) throw this.unexpected(values.join(' or ') || type);
    return this.next();
  }

  expectName(): string {
    return String(this.expect('name').value);
  }

  unexpected(expected: string): SyntaxError {
    const { type, value } = this.current;
    return new SyntaxError(`expected ${expected}, got ${value === '' ? type : String(value)}`);
  }
}

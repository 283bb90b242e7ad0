/** The UTF-8 bytes of a token: `undefined` for one that is not part of the text. */
type BytesOf = (tokenId: number) => Uint8Array | undefined;

/** Decodes tokens one by one. A character is held back until the bytes of all its tokens are there. */
export class ByteTextStream {
  readonly #bytesOf: BytesOf;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  #numSpacesToDrop: number;

  /** @param numAddedSpaces Spaces to drop at the beginning, where the tokenizer has added them. */
  constructor(bytesOf: BytesOf, numAddedSpaces = 0) {
    this.#bytesOf = bytesOf;
    this.#numSpacesToDrop = numAddedSpaces;
  }

  /** The characters that this token completes; '' while a character is incomplete, and for a special token. */
  push(tokenId: number): string {
    return this.#dropSpaces(this.#decoder.decode(this.#bytesOf(tokenId), { stream: true }));
  }

  /** The rest: an incomplete character becomes U+FFFD. */
  end(): string {
    return this.#dropSpaces(this.#decoder.decode());
  }

  #dropSpaces(text: string): string {
    if (this.#numSpacesToDrop === 0 || text === '') return text;
    const numSpaces = text.length - text.replace(/^ +/, '').length;
    const numDropped = Math.min(this.#numSpacesToDrop, numSpaces);
    // Only spaces before the first other character are dropped.
    this.#numSpacesToDrop = numSpaces === text.length ? this.#numSpacesToDrop - numDropped : 0;
    return text.slice(numDropped);
  }
}

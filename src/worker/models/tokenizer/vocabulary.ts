import { ByteTextStream, spellBytes } from '../../text-generation/text-stream.ts';

/** The tokens of a byte-level tokenizer by id, with special ones. */
export class Vocabulary {
  readonly #bytesOfToken: ReadonlyMap<number, Uint8Array>;
  readonly #addedTokens: ReadonlyMap<number, string>;

  constructor(bytesOfToken: ReadonlyMap<number, Uint8Array>, tokenizerJson: unknown) {
    this.#bytesOfToken = bytesOfToken;
    this.#addedTokens = readAddedTokens(tokenizerJson);
  }

  /** A token as `tokenizer.json` spells it (`Ġupon`); '' for an id without a token. */
  spell(tokenId: number): string {
    const bytes = this.#bytesOfToken.get(tokenId);
    return this.#addedTokens.get(tokenId) ?? (bytes ? spellBytes(bytes) : '');
  }

  /** The text of tokens; special tokens are spelled out. */
  decode(tokenIds: readonly number[]): string {
    const stream = new ByteTextStream(this.#bytesOfToken);
    const pieces = tokenIds.map((tokenId) => {
      const added = this.#addedTokens.get(tokenId);
      return added === undefined ? stream.push(tokenId) : stream.end() + added;
    });
    return pieces.join('') + stream.end();
  }
}

function readAddedTokens(tokenizerJson: unknown): ReadonlyMap<number, string> {
  const { added_tokens: added = [] } = (tokenizerJson ?? {}) as {
    readonly added_tokens?: readonly { readonly id: number; readonly content: string }[];
  };
  return new Map(added.map(({ id, content }) => [id, content]));
}

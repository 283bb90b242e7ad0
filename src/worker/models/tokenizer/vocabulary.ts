import { ByteTextStream } from './text-stream.ts';
import { readTokenDecoder, type TokenDecoder } from './token-decoder.ts';
import { readTokenTable, type TokenTable } from './token-table.ts';

/** The tokens of a `tokenizer.json` by id, and their text. */
export class Vocabulary {
  /** The most characters of a text that one token stands for, in UTF-16 units. */
  readonly maxTokenLength: number;
  /** As the file spells them. Bytes are computed when they are needed: 200,000 arrays would take 40 MB. */
  readonly #tokens: readonly (string | undefined)[];
  /** Added tokens that stand for another text than their spelling. */
  readonly #texts: ReadonlyMap<number, string>;
  readonly #specialIds: ReadonlySet<number>;
  readonly #decoder: TokenDecoder;

  /** @throws ModelFileCorruptError, UnsupportedModelError. */
  constructor(tokenizerJson: unknown, { vocab, addedTokens }: TokenTable = readTokenTable(tokenizerJson)) {
    this.#decoder = readTokenDecoder(tokenizerJson);
    const tokens: string[] = [];
    let maxTokenLength = 1;
    const add = (token: string, id: number): void => {
      tokens[id] = token;
      maxTokenLength = Math.max(maxTokenLength, token.length);
    };
    for (const [token, id] of vocab) add(token, id);
    for (const { content, id } of addedTokens) add(content, id);
    this.#tokens = tokens;
    this.maxTokenLength = maxTokenLength;
    const changed = addedTokens.filter(({ content, text }) => content !== text);
    this.#texts = new Map(changed.map(({ id, text }) => [id, text]));
    // One that is normalized to another text is a part of the text, as in `tokenizers`.
    const special = addedTokens.filter(({ special: isSpecial, id }) => isSpecial && !this.#texts.has(id));
    this.#specialIds = new Set(special.map(({ id }) => id));
  }

  /** A token as `tokenizer.json` spells it (`Ġupon`, `▁upon`, `<0x0A>`); '' for an id without a token. */
  spell(tokenId: number): string {
    return this.#tokens[tokenId] ?? '';
  }

  /** Special tokens with these spellings. */
  specialIdsOf(spellings: readonly string[]): ReadonlySet<number> {
    return new Set([...this.#specialIds].filter((id) => spellings.includes(this.spell(id))));
  }

  /**
   * The bytes of a token in a text; undefined for one that is no part of it.
   *
   * @param shownIds Special tokens that are part of the text.
   */
  bytesOf(tokenId: number, shownIds?: ReadonlySet<number>): Uint8Array | undefined {
    const text = this.#shownTextOf(tokenId, shownIds);
    return text === undefined ? undefined : this.#decoder.bytesOf(text);
  }

  /** The text of tokens from its beginning; special tokens are spelled out. */
  decode(tokenIds: readonly number[]): string {
    const stream = this.#createStream(true, (tokenId) => this.#textOf(tokenId));
    return tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end();
  }

  /**
   * A decoder for tokens one by one. Special tokens are no part of the text.
   *
   * @param isWholeText Whether the tokens begin a text. Those that continue one keep their first space.
   * @param shownIds Special tokens that are part of the text all the same.
   */
  createTextStream(isWholeText: boolean, shownIds?: ReadonlySet<number>): ByteTextStream {
    return this.#createStream(isWholeText, (tokenId) => this.#shownTextOf(tokenId, shownIds));
  }

  #shownTextOf(tokenId: number, shownIds?: ReadonlySet<number>): string | undefined {
    const isHidden = this.#specialIds.has(tokenId) && shownIds?.has(tokenId) !== true;
    return isHidden ? undefined : this.#textOf(tokenId);
  }

  #createStream(isWholeText: boolean, textOf: (tokenId: number) => string | undefined): ByteTextStream {
    let isFirst = isWholeText;
    const bytesOf = (tokenId: number): Uint8Array | undefined => {
      const text = textOf(tokenId);
      const bytes = text === undefined ? undefined : this.#decoder.bytesOf(text, isFirst);
      isFirst &&= bytes === undefined;
      return bytes;
    };
    return new ByteTextStream(bytesOf, isWholeText ? this.#decoder.numAddedSpaces : 0);
  }

  #textOf(tokenId: number): string | undefined {
    return this.#texts.get(tokenId) ?? this.#tokens[tokenId];
  }
}

import * as v from 'valibot';

import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { ByteTextStream } from './text-stream.ts';
import { readTokenDecoder, type TokenDecoder } from './token-decoder.ts';

const file = v.object({
  model: v.object({ vocab: v.custom<Readonly<Record<string, unknown>>>(isRecord) }),
  added_tokens: v.optional(
    v.array(v.object({ id: v.number(), content: v.string(), special: v.optional(v.boolean()) })),
    [],
  ),
});

/** The tokens of a `tokenizer.json` by id, and their text. */
export class Vocabulary {
  /** The most characters of a text that one token stands for, in UTF-16 units. */
  readonly maxTokenLength: number;
  /** As the file spells them. Bytes are computed when they are needed: 200,000 arrays would take 40 MB. */
  readonly #tokens: readonly (string | undefined)[];
  readonly #specialIds: ReadonlySet<number>;
  readonly #decoder: TokenDecoder;

  /** @throws ModelFileCorruptError, UnsupportedModelError. */
  constructor(tokenizerJson: unknown) {
    this.#decoder = readTokenDecoder(tokenizerJson);
    const parsed = v.safeParse(file, tokenizerJson);
    if (!parsed.success) throw corrupt();
    const { model, added_tokens: added } = parsed.output;
    const tokens: string[] = [];
    let maxTokenLength = 1;
    const add = (token: string, id: unknown): void => {
      if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 0) throw corrupt();
      tokens[id] = token;
      maxTokenLength = Math.max(maxTokenLength, token.length);
    };
    for (const [token, id] of Object.entries(model.vocab)) add(token, id);
    for (const { content, id } of added) add(content, id);
    this.#tokens = tokens;
    this.maxTokenLength = maxTokenLength;
    this.#specialIds = new Set(added.filter(({ special }) => special).map(({ id }) => id));
  }

  /** A token as `tokenizer.json` spells it (`Ġupon`, `▁upon`, `<0x0A>`); '' for an id without a token. */
  spell(tokenId: number): string {
    return this.#tokens[tokenId] ?? '';
  }

  /** The bytes of a token in a text; undefined for one that is no part of it. */
  bytesOf(tokenId: number): Uint8Array | undefined {
    return this.#specialIds.has(tokenId) ? undefined : this.#bytesOf(tokenId);
  }

  /** The text of tokens from its beginning; special tokens are spelled out. */
  decode(tokenIds: readonly number[]): string {
    const stream = new ByteTextStream((tokenId) => this.#bytesOf(tokenId), this.#decoder.numAddedSpaces);
    return tokenIds.map((tokenId) => stream.push(tokenId)).join('') + stream.end();
  }

  /**
   * A decoder for tokens one by one. Special tokens are no part of the text.
   *
   * @param isWholeText Whether the tokens begin a text. Those that continue one keep their first space.
   */
  createTextStream(isWholeText: boolean): ByteTextStream {
    return new ByteTextStream(
      (tokenId) => this.bytesOf(tokenId),
      isWholeText ? this.#decoder.numAddedSpaces : 0,
    );
  }

  #bytesOf(tokenId: number): Uint8Array | undefined {
    const token = this.#tokens[tokenId];
    return token === undefined ? undefined : this.#decoder.bytesOf(token);
  }
}

function corrupt(): ModelFileCorruptError {
  return ModelFileCorruptError.of('tokenizer.json', 'its vocabulary does not map tokens to ids');
}

import { ModelFileCorruptError } from '../protocol/errors/model.ts';

/** Decodes byte-level tokens one by one. A character is held back until the bytes of all its tokens are there. */
export class ByteTextStream {
  readonly #bytesOfToken: ReadonlyMap<number, Uint8Array>;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytesOfToken: ReadonlyMap<number, Uint8Array>) {
    this.#bytesOfToken = bytesOfToken;
  }

  /** The characters that this token completes; '' while a character is incomplete, and for a special token. */
  push(tokenId: number): string {
    return this.#decoder.decode(this.#bytesOfToken.get(tokenId), { stream: true });
  }

  /** The rest: an incomplete character becomes U+FFFD. */
  end(): string {
    return this.#decoder.decode();
  }
}

/**
 * The bytes of every ordinary token of a `tokenizer.json`. Special tokens have none: they are no part of the text.
 *
 * @throws ModelFileCorruptError if there is no vocabulary, or it is not byte-level.
 */
export function readTokenBytes(tokenizerJson: unknown): ReadonlyMap<number, Uint8Array> {
  const { model, added_tokens: added } = (tokenizerJson ?? {}) as {
    readonly model?: { readonly vocab?: Readonly<Record<string, number>> };
    readonly added_tokens?: readonly { readonly id: number; readonly special?: boolean }[];
  };
  if (!model?.vocab) throw ModelFileCorruptError.of('tokenizer.json', 'it has no model.vocab');
  const special = new Set(added?.filter((token) => token.special).map(({ id }) => id));
  const bytes = new Map<number, Uint8Array>();
  for (const [token, id] of Object.entries(model.vocab)) {
    if (!special.has(id)) bytes.set(id, bytesOf(token));
  }
  return bytes;
}

/**
 * Byte-level BPE spells each byte as one printable character: the printable Latin-1 bytes as themselves, the others
 * as the characters from U+0100 on, in order. Source: `bytes_to_unicode` of openai/gpt-2.
 */
const CHARACTER_OF_BYTE: readonly string[] = (() => {
  let nextSubstitute = 0x100;
  return Array.from({ length: 0x100 }, (_, byte) =>
    String.fromCharCode(isPrintable(byte) ? byte : nextSubstitute++),
  );
})();

const BYTE_OF_CHARACTER = new Map(CHARACTER_OF_BYTE.map((character, byte) => [character, byte]));

/** Spells bytes as a byte-level `tokenizer.json` does. */
export function spellBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => CHARACTER_OF_BYTE[byte]).join('');
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

function bytesOf(token: string): Uint8Array {
  return Uint8Array.from(token, (character) => {
    const byte = BYTE_OF_CHARACTER.get(character);
    if (byte === undefined) {
      throw ModelFileCorruptError.of(
        'tokenizer.json',
        `token \`${token}\` is not spelled in byte-level characters`,
      );
    }
    return byte;
  });
}

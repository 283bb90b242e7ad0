/**
 * Byte-level BPE spells each byte as one printable character: the printable Latin-1 bytes as themselves, the others
 * as the characters from U+0100 on, in order. Source: `bytes_to_unicode` of openai/gpt-2.
 */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = (() => {
  let nextSubstitute = 0x100;
  return new Map(
    Array.from({ length: 0x100 }, (_, byte) => [
      String.fromCharCode(isPrintable(byte) ? byte : nextSubstitute++),
      byte,
    ]),
  );
})();

const encoder = new TextEncoder();

/** The bytes of a token. Added tokens may be spelled in other characters: then they stand for themselves. */
export function bytesOfSpelling(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = BYTE_OF_CHARACTER.get(token.charAt(i));
    if (byte === undefined) return encoder.encode(token);
    bytes[i] = byte;
  }
  return bytes;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

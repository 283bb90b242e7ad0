import * as v from 'valibot';

import { isRecord } from '../../../platform/is-record.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { fieldsOf } from './tokenizer-parts.ts';

/** How the spellings of tokens become text. */
export interface TokenDecoder {
  /**
   * The UTF-8 bytes that a token stands for; they may be a part of a character.
   *
   * @param isFirst Whether it begins a whole text; false by default.
   */
  bytesOf(token: string, isFirst?: boolean): Uint8Array;
  /** How many spaces the tokenizer puts before a whole text: decoding drops them there. */
  readonly numAddedSpaces: number;
}

const encoder = new TextEncoder();

const step = v.variant('type', [
  v.object({ type: v.literal('ByteLevel') }),
  v.object({ type: v.literal('Replace'), pattern: v.object({ String: v.string() }), content: v.string() }),
  v.object({ type: v.literal('ByteFallback') }),
  v.object({ type: v.literal('Fuse') }),
  v.object({
    type: v.literal('Strip'),
    content: v.literal(' '),
    start: v.pipe(v.number(), v.integer(), v.minValue(0)),
    stop: v.literal(0),
  }),
]);
type Step = v.InferOutput<typeof step>;

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

const CHARACTERS = [...BYTE_OF_CHARACTER.keys()];

/** Bytes as byte-level BPE spells them. */
export function spellBytes(bytes: Uint8Array): string {
  let spelling = '';
  for (const byte of bytes) spelling += CHARACTERS[byte];
  return spelling;
}

/** A token that stands for one byte, as SentencePiece spells it. */
const SINGLE_BYTE = /^<0x([0-9a-f]{2})>$/i;

/**
 * Reads how a `tokenizer.json` decodes: byte-level BPE (GPT-2, Llama 3, Qwen), BPE of SentencePiece (Llama 2, Mistral, Gemma) or
 * WordPiece (BERT). Each step does what huggingface/tokenizers does.
 *
 * @throws ModelFileCorruptError if there is no vocabulary.
 * @throws UnsupportedModelError for other kinds of tokenizers, whose text would come out wrong.
 */
export function readTokenDecoder(tokenizerJson: unknown): TokenDecoder {
  const { type, decoder } = fieldsOf(tokenizerJson);
  if (type === 'WordPiece') return createWordPieceDecoder(decoder);
  const steps = readSteps(decoder);
  if (steps.length === 1 && steps[0]?.type === 'ByteLevel')
    return { bytesOf: bytesOfSpelling, numAddedSpaces: 0 };
  const types = steps.map((entry) => entry.type);
  const stripAt = types.indexOf('Strip');
  const stripsEachToken = stripAt >= 0 && !types.slice(0, stripAt).includes('Fuse');
  const joinedAt = types.findIndex((one) => one === 'Fuse' || one === 'Strip');
  const replacesAcross = joinedAt >= 0 && types.lastIndexOf('Replace') > joinedAt;
  if (types.includes('ByteLevel') || stripsEachToken || replacesAcross) throw unsupported(decoder);
  return createSentencePieceDecoder(steps);
}

function readSteps(decoder: unknown): readonly Step[] {
  const entries = isRecord(decoder) && decoder['type'] === 'Sequence' ? decoder['decoders'] : [decoder];
  const steps = v.safeParse(v.array(step), entries);
  if (steps.success) return steps.output;
  throw unsupported(decoder);
}

function unsupported(decoder: unknown): UnsupportedModelError {
  return UnsupportedModelError.of(
    `tokenizer.json decodes by ${JSON.stringify(decoder)}, which is not supported`,
  );
}

const wordPiece = v.object({
  type: v.literal('WordPiece'),
  prefix: v.string(),
  cleanup: v.optional(v.boolean(), false),
});

/** Words are separated by a space, and the rest of a word begins with a prefix. Without a decoder all tokens are separated. */
function createWordPieceDecoder(decoder: unknown): TokenDecoder {
  const parsed = v.safeParse(v.nullish(wordPiece), decoder);
  if (!parsed.success) throw unsupported(decoder);
  const { prefix, cleanup = false } = parsed.output ?? {};
  return {
    bytesOf(token, isFirst = false) {
      const isRest = prefix !== undefined && token.startsWith(prefix);
      const text = isFirst ? token : isRest ? token.slice(prefix.length) : ` ${token}`;
      return encoder.encode(cleanup ? withoutOddSpaces(text) : text);
    },
    numAddedSpaces: 0,
  };
}

/** As huggingface/tokenizers cleans up each token. */
const CLEANUPS = [
  [' .', '.'],
  [' ?', '?'],
  [' !', '!'],
  [' ,', ','],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [' do not', " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
] as const;

function withoutOddSpaces(text: string): string {
  return CLEANUPS.reduce((result, [odd, clean]) => result.replaceAll(odd, clean), text);
}

function createSentencePieceDecoder(steps: readonly Step[]): TokenDecoder {
  const replacements = steps.filter((entry) => entry.type === 'Replace');
  const strips = steps.filter((entry) => entry.type === 'Strip');
  const hasByteTokens = steps.some((entry) => entry.type === 'ByteFallback');
  return {
    bytesOf(token) {
      const byte = hasByteTokens ? SINGLE_BYTE.exec(token)?.[1] : undefined;
      if (byte !== undefined) return Uint8Array.of(parseInt(byte, 16));
      return encoder.encode(
        replacements.reduce(
          (text, { pattern, content }) => text.replaceAll(pattern.String, () => content),
          token,
        ),
      );
    },
    numAddedSpaces: strips.reduce((sum, { start }) => sum + start, 0),
  };
}

/** The bytes of a token. Added tokens may be spelled in other characters: then they stand for themselves. */
function bytesOfSpelling(token: string): Uint8Array {
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

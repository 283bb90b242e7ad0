import { isWholeText } from '../../batching/base/validate.ts';
import { MAX_TEXT_LENGTH } from '../../protocol/wire.ts';
import type { EncoderRow } from '../runtime/encoder-inputs.ts';
import type { LoadedEncoder } from '../runtime/encoder/loaded-encoder.ts';
import { emptyText, textTooLong, textTooLongToRead } from '../../protocol/errors/deployment-messages.ts';

/** Texts that are tokenized before other tasks of the worker run. */
export const TEXTS_PER_PIECE = 16;

/** A row, and whether its text was cut. */
export interface ReadRow extends EncoderRow {
  readonly isTruncated: boolean;
}

/** @param place Of the text in the request, as `input[3]`. */
export function* tokenize(
  text: string,
  place: string,
  { tokenizer }: LoadedEncoder,
  { truncate, addSpecialTokens }: { readonly truncate: boolean; readonly addSpecialTokens: boolean },
): Generator<void, readonly number[]> {
  if (text === '') throw emptyText(place);
  isWholeText(place, text);
  if (text.length > MAX_TEXT_LENGTH && !truncate)
    throw textTooLongToRead(place, text.length, MAX_TEXT_LENGTH);
  return yield* tokenizer.encodeInPieces(text.slice(0, MAX_TEXT_LENGTH), addSpecialTokens);
}

/** @throws PromptTooLongError, unless it may be cut: then its end is lost, but not the special tokens behind it. */
export function fit(
  tokenIds: readonly number[],
  place: string,
  { encoder: { maxTokens }, tokenizer }: LoadedEncoder,
  truncate: boolean,
): ReadRow {
  if (tokenIds.length <= maxTokens) return { tokenIds, numFirst: tokenIds.length, isTruncated: false };
  if (!truncate) throw textTooLong(place, tokenIds.length, maxTokens);
  const { single } = tokenizer.frames;
  const after = single
    .slice(single.indexOf('A') + 1)
    .flatMap((part) => (typeof part === 'string' ? [] : part));
  const cut = [...tokenIds.slice(0, maxTokens - after.length), ...after];
  return { tokenIds: cut, numFirst: cut.length, isTruncated: true };
}

import * as v from 'valibot';

import { isRecord } from '../../../platform/is-record.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Fields } from '../config-fields.ts';

/**
 * The fields of a `tokenizer.json`. Old files leave the model's type out: Unigram has its vocabulary as a list, WordPiece has no merges.
 *
 * @throws ModelFileCorruptError if there is no vocabulary.
 * @throws UnsupportedModelError for other models, whose tokens and texts would come out wrong.
 */
export function fieldsOf(
  tokenizerJson: unknown,
): Fields & { readonly model: Fields; readonly type: 'BPE' | 'WordPiece' } {
  const fields = isRecord(tokenizerJson) ? tokenizerJson : {};
  const model = isRecord(fields['model']) ? fields['model'] : {};
  const { vocab, merges } = model;
  if (vocab === undefined) throw corruptTokenizer('it has no model.vocab');
  const type =
    model['type'] ?? (Array.isArray(vocab) ? 'Unigram' : merges === undefined ? 'WordPiece' : 'BPE');
  if (type === 'BPE' || type === 'WordPiece') return { ...fields, model, type };
  throw UnsupportedModelError.of(
    `tokenizer.json is of type ${JSON.stringify(type)}, and only BPE and WordPiece are supported`,
  );
}

/** A component of `tokenizer.json` that can't be computed as `tokenizers` does. */
export function unsupportedPart(kind: string, part: unknown, reason?: string): UnsupportedModelError {
  const type = isRecord(part) ? part['type'] : part;
  const name = typeof type === 'string' ? type : 'without a type';
  return UnsupportedModelError.of(
    `tokenizer.json has the ${kind} ${name}, ${reason ?? `which is not supported: ${JSON.stringify(part)}`}`,
  );
}

export function corruptTokenizer(detail: string, cause?: unknown): ModelFileCorruptError {
  return ModelFileCorruptError.of('tokenizer.json', detail, cause);
}

/** @throws UnsupportedModelError that names the component. */
export function parsePart<Schema extends v.GenericSchema>(
  kind: string,
  schema: Schema,
  part: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, part);
  if (parsed.success) return parsed.output;
  throw unsupportedPart(kind, part);
}

/** The pattern that a component finds in a text. */
export const pattern = v.union([
  v.strictObject({ String: v.pipe(v.string(), v.minLength(1)) }),
  v.strictObject({ Regex: v.string() }),
]);
export type Pattern = v.InferOutput<typeof pattern>;

import * as v from 'valibot';
import { parseBody } from './fields.ts';

export const text = v.string('a text');
const flag = v.optional(v.boolean('true or false'));
export const positive = v.optional(
  v.pipe(v.number('a number'), v.safeInteger('a whole number'), v.minValue(1, 'a number from 1 on')),
);

const embeddingsRequest = v.object({
  model: v.optional(text),
  // The worker checks it: texts, or lists of token ids.
  input: v.unknown(),
  dimensions: positive,
  encoding_format: v.optional(v.picklist(['float', 'base64'], 'float or base64'), 'float'),
  user: v.optional(text),
  normalize: flag,
  prompt: v.optional(text),
  truncate: flag,
});

/** A request to `POST /v1/embeddings`. The options are the embedder's. @throws HttpError 400 */
export function readEmbeddingsRequest(body: unknown) {
  const { model, input, encoding_format: format, user, ...options } = parseBody(embeddingsRequest, body);
  return { model, input, user, options, isBase64: format === 'base64' };
}

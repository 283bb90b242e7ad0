import { InvalidOptionError } from '../../batching/base/errors.ts';
import { parseOptions } from '../../batching/base/parse-options.ts';
import { integerIn } from '../../batching/base/validate.ts';
import { EMBEDDER, type Embedding } from '../../protocol/embedding.ts';
import { EMBEDDING_CHECKS, isSingleText, requireList } from '../../protocol/encoder-options.ts';
import type { LoadedEncoder } from '../runtime/encoder/loaded-encoder.ts';
import type { EncoderTask } from './encoder-task.ts';
import { fit, TEXTS_PER_PIECE, tokenize, type ReadRow } from './read-texts.ts';
import { emptyText } from '../../protocol/errors/deployment-messages.ts';

/** Makes vectors of texts. */
export const embedTask: EncoderTask = {
  name: EMBEDDER,
  *read(input, given, model) {
    const options = parseOptions('options', EMBEDDING_CHECKS, given);
    const { encoder } = model;
    const { normalize = encoder.isNormalized, truncate = false } = options;
    const dimensions = readDimensions(options.dimensions, model);
    const prefix = readPrompt(options.prompt, model);
    const isSingle = isSingleText(input);
    const texts = isSingle ? [input] : requireList('input', input);
    const rows: ReadRow[] = [];
    for (const [index, text] of texts.entries()) {
      rows.push(yield* readText(text, isSingle ? 'input' : `input[${index}]`, model, { prefix, truncate }));
      if (rows.length % TEXTS_PER_PIECE === 0) yield;
    }
    return {
      rows,
      answer(outputs) {
        // One piece of memory crosses to the page once.
        const vectors = new Float32Array(outputs.length * dimensions);
        const embeddings = outputs.map((output, row): Embedding => {
          const { tokenIds = [], isTruncated = false } = rows[row] ?? {};
          const embedding = vectors.subarray(row * dimensions, (row + 1) * dimensions);
          embedding.set(output.subarray(0, dimensions));
          if (normalize) divideByLength(embedding);
          return { embedding, numTokens: tokenIds.length, isTruncated };
        });
        return isSingle ? embeddings[0] : embeddings;
      },
    };
  },
};

interface ReadOptions {
  readonly prefix: string;
  readonly truncate: boolean;
}

function* readText(
  text: unknown,
  place: string,
  model: LoadedEncoder,
  { prefix, truncate }: ReadOptions,
): Generator<void, ReadRow> {
  if (typeof text === 'string') {
    if (text === '') throw emptyText(place);
    const tokenIds = yield* tokenize(prefix + text, place, model, { truncate, addSpecialTokens: true });
    return fit(tokenIds, place, model, truncate);
  }
  if (!Array.isArray(text)) throw InvalidOptionError.of(place, 'a text or a list of token ids', text);
  if (text.length === 0) throw emptyText(place);
  const isTokenId = integerIn({ from: 0, to: model.encoderInfo.vocabSize - 1 });
  return fit(
    text.map((id, at) => isTokenId(`${place}[${at}]`, id)),
    place,
    model,
    truncate,
  );
}

function readDimensions(dimensions: number | undefined, { encoder }: LoadedEncoder): number {
  const { dimensions: longest } = encoder;
  if (dimensions === undefined || dimensions <= longest) return dimensions ?? longest;
  throw InvalidOptionError.of('dimensions', `an integer from 1 to ${longest}`, dimensions);
}

function readPrompt(name: string | undefined, { encoder }: LoadedEncoder): string {
  const { prompts, defaultPrompt } = encoder;
  const wanted = name ?? defaultPrompt;
  if (wanted === undefined) return '';
  if (Object.hasOwn(prompts, wanted)) return prompts[wanted] ?? '';
  const known = Object.keys(prompts).join(', ');
  throw InvalidOptionError.of(
    'prompt',
    known === '' ? 'left out: the model has no prompts' : `one of the model's prompts: ${known}`,
    wanted,
  );
}

/** A vector of zeros stays as it is. */
function divideByLength(vector: Float32Array): void {
  const length = Math.hypot(...vector) || 1;
  for (const [at, value] of vector.entries()) vector[at] = value / length;
}

import { readFile } from 'node:fs/promises';

import type { ResponseFormat } from '../../../batching/options/response-format.ts';
import type { TokenConstraint } from '../../../batching/generation/request.ts';
import { isAllowed } from '../../../batching/sampling/token-mask.ts';
import { createTokenizer } from '../../models/tokenizer/tokenizer.ts';
import { createShapes } from './create-shapes.ts';
import type { ShapedModel } from './token-trie.ts';

const folder = new URL('../../../../public/models/storyteller/', import.meta.url);

async function readJson(name: string) {
  return JSON.parse(await readFile(new URL(name, folder), 'utf8'));
}

/** The embedded model's tokenizer, with special tokens and padding rows behind its vocabulary. */
export async function loadShapedModel(
  numPadding = 0,
  specialTokens: readonly string[] = [],
): Promise<ShapedModel> {
  const json = await readJson('tokenizer.json');
  const added = specialTokens.map((content) => ({ content, special: true }));
  const { vocab_size: vocabSize } = await readJson('config.json');
  const tokenizer = await createTokenizer(
    {
      ...json,
      added_tokens: [
        ...json.added_tokens,
        ...added.map((token, index) => ({ id: vocabSize + index, ...token })),
      ],
    },
    await readJson('tokenizer_config.json'),
  );
  const config = {
    vocabSize: vocabSize + specialTokens.length + numPadding,
    contextLength: 512,
    numLayers: 1,
    eosTokenIds: tokenizer.endTokenIds,
  };
  return { config, tokenizer };
}

export async function createShape(
  model: ShapedModel,
  format: ResponseFormat,
  prior: readonly number[] = [],
): Promise<TokenConstraint> {
  const [shape] = await createShapes(format, model, [prior]);
  if (!shape) throw new Error('Expected a constraint.');
  return shape;
}

/** The tokens that a shape allows next. */
export function allowedBy(shape: Pick<TokenConstraint, 'mask'>, { config }: ShapedModel): readonly number[] {
  const mask = shape.mask?.();
  const ids: number[] = [];
  for (let id = 0; id < config.vocabSize; id += 1) if (!mask || isAllowed(mask, id)) ids.push(id);
  return ids;
}

/** Whether a shape accepts a whole text, token by token, and may end behind it. The mask may want other tokens for the same text. */
export async function accepts(model: ShapedModel, shape: TokenConstraint, text: string): Promise<boolean> {
  let isAtEnd = false;
  for (const tokenId of model.tokenizer.encode(text, false)) {
    try {
      isAtEnd = await shape.accept(tokenId);
    } catch {
      return false;
    }
  }
  const [end] = model.config.eosTokenIds;
  const mask = shape.mask?.();
  return isAtEnd || (end !== undefined && mask !== undefined && isAllowed(mask, end));
}

/** Whether the masks of a shape let a text be written, by the longest token that they allow each time. */
export async function canWrite(model: ShapedModel, shape: TokenConstraint, text: string): Promise<boolean> {
  let rest = Buffer.from(text);
  let isAtEnd = false;
  while (rest.length > 0) {
    const [best] = allowedBy(shape, model)
      .map((tokenId) => ({ tokenId, bytes: model.tokenizer.vocabulary.bytesOf(tokenId) ?? Buffer.of() }))
      .filter(({ bytes }) => bytes.length > 0 && rest.indexOf(bytes) === 0)
      .toSorted((a, b) => b.bytes.length - a.bytes.length);
    if (!best) return false;
    isAtEnd = await shape.accept(best.tokenId);
    rest = rest.subarray(best.bytes.length);
  }
  const [end = 0] = model.config.eosTokenIds;
  return isAtEnd || allowedBy(shape, model).includes(end);
}

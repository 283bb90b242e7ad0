import { readFileSync } from 'node:fs';

import type { JsonSchema, ResponseFormat } from '../../batching/generation/response-format.ts';
import { createRandom, RandomChoices } from './random-choices.ts';
import type { ShapedModel } from '../text-generation/shapes/token-trie.ts';
import { allowedBy, createShape } from '../text-generation/shapes/test-support.ts';

/** A schema that a library writes for an everyday type. */
export interface EverydaySchema {
  readonly source: 'zod' | 'pydantic';
  readonly name: string;
  /** As JSON. */
  readonly schema: string;
}

const FIXTURE = new URL('../../../tools/reference/fixtures/everyday-schemas-reference.json', import.meta.url);

/** Tokens of one answer. Few answers have more. */
const MAX_TOKENS = 600;

export function everydaySchemas(): readonly EverydaySchema[] {
  return JSON.parse(readFileSync(FIXTURE, 'utf8'));
}

export function formatOf({ schema }: EverydaySchema): ResponseFormat {
  const parsed: JsonSchema = JSON.parse(schema);
  return { type: 'json_schema', schema: parsed };
}

/**
 * A text of tokens drawn from those that the shape allows; undefined if it doesn't end. The end and the lowest tokens, which end strings,
 * are drawn more often.
 *
 * @throws ResponseFormatUnsupportedError.
 */
export async function randomAnswer(
  model: ShapedModel,
  format: ResponseFormat,
  seed: number,
): Promise<string | undefined> {
  const choices = new RandomChoices(createRandom(seed));
  const shape = await createShape(model, format);
  const [end = -1] = model.config.eosTokenIds;
  const tokenIds: number[] = [];
  while (tokenIds.length < MAX_TOKENS) {
    const allowed = allowedBy(shape, model);
    const isEnd = allowed.includes(end) && (allowed.length === 1 || choices.is(0.3));
    const others = allowed.filter((tokenId) => tokenId !== end);
    const tokenId = isEnd ? end : choices.is(0.3) ? Math.min(...others) : choices.one(others);
    if (tokenId !== end) tokenIds.push(tokenId);
    if (tokenId === end || (await shape.accept(tokenId))) return model.tokenizer.vocabulary.decode(tokenIds);
  }
  return undefined;
}

import { readFileSync } from 'node:fs';

import type { JsonSchema, ResponseFormat } from '../../batching/options/response-format.ts';
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

/** Texts that end what most schemas begin: they are tried now and then. */
const ENDINGS = ['"', '}', ']', '@"', '.png"'];

/**
 * A text of tokens drawn from those that the shape allows; undefined if it doesn't end. The end, the lowest tokens and endings are drawn
 * more often.
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
  let planned: readonly number[] = [];
  while (tokenIds.length < MAX_TOKENS) {
    const allowed = allowedBy(shape, model);
    const isEnd = allowed.includes(end) && (allowed.length === 1 || choices.is(0.3));
    if (isEnd) return model.tokenizer.vocabulary.decode(tokenIds);
    if (planned.length === 0 && choices.is(0.3))
      planned = model.tokenizer.encode(choices.one(ENDINGS), false);
    const [next = -1] = planned;
    planned = allowed.includes(next) ? planned.slice(1) : [];
    const others = allowed.filter((tokenId) => tokenId !== end);
    const drawn = choices.is(0.2) ? Math.min(...others) : choices.one(others);
    const tokenId = allowed.includes(next) ? next : drawn;
    tokenIds.push(tokenId);
    if (await shape.accept(tokenId)) return model.tokenizer.vocabulary.decode(tokenIds);
  }
  return undefined;
}

import * as v from 'valibot';

import { MODEL_OPTION_NAMES, OPTION_DEFAULTS } from '../../batching/options/generation-options.ts';
import { fromNames } from '../../batching/base/records.ts';
import { parseJson } from '../../platform/parse-json.ts';
import type { BackendInfo, GenerationDefaults, ModelInfo } from '../models.ts';
import type { Dialect } from './completion-body.ts';
import { badAnswer, modelNotServed } from '../server-errors.ts';

/** The server's model. */
export interface ServerModel extends Dialect {
  /** Whether the server is another Tabserve. */
  readonly isTabserve: boolean;
  readonly modelInfo: ModelInfo;
}

const size = v.pipe(v.number(), v.integer(), v.minValue(1));

const modelList = v.object({
  data: v.array(
    v.object({
      id: v.string(),
      owned_by: v.optional(v.string()),
      /** Sent by another Tabserve. */
      has_chat_template: v.optional(v.boolean()),
      /** Sent by vLLM. */
      max_model_len: v.optional(v.nullable(size)),
      /** Sent by Ray Serve LLM, which uses vLLM. */
      metadata: v.optional(
        v.nullable(v.object({ max_request_context_length: v.optional(v.nullable(size)) })),
      ),
    }),
  ),
});

/**
 * Picks the model from the answer to `GET /v1/models`: the one that was named, or else the first.
 *
 * @throws ServerError.
 */
export function readServerModel(url: string, model: string | undefined, body: string): ServerModel {
  const parsed = v.safeParse(modelList, parseJson(body));
  if (!parsed.success) throw badAnswer(url, 'with something that is not a list of models');
  const cards = parsed.output.data;
  const card = model === undefined ? cards[0] : cards.find(({ id }) => id === model);
  if (!card) {
    const names = cards.map((other) => other.id).join(', ') || 'none';
    throw modelNotServed(url, model ?? 'any', names);
  }
  const { id, owned_by: owner, max_model_len: maxModelLength, metadata } = card;
  // Any other server rejects a chat if its model has no template.
  const { has_chat_template: hasChatTemplate = true } = card;
  const contextLength = maxModelLength ?? metadata?.max_request_context_length ?? 0;
  const isTabserve = owner === 'tabserve';
  const hasExtensions = owner === 'vllm' || contextLength > 0;
  return {
    modelId: id,
    hasExtensions,
    sendsIds: hasExtensions && !isTabserve,
    isTabserve,
    modelInfo: {
      id,
      numParameters: 0,
      numLayers: 0,
      contextLength,
      vocabSize: 0,
      hasChatTemplate,
      generationDefaults: defaultsWithin(contextLength || Infinity),
    },
  };
}

export function serverBackend(url: string): BackendInfo {
  return { name: 'server', precision: 'unknown', adapter: url, fallbackReason: '' };
}

function defaultsWithin(contextLength: number): GenerationDefaults {
  const defaults = fromNames<GenerationDefaults>(MODEL_OPTION_NAMES, (name) => OPTION_DEFAULTS[name]);
  return { ...defaults, maxNewTokens: Math.min(defaults.maxNewTokens, contextLength) };
}

import * as v from 'valibot';

import { parseJson } from '../../../platform/parse-json.ts';
import type { BackendInfo, ModelInfo } from '../../../protocol/models.ts';
import type { UpstreamInit } from '../../../protocol/host-messages.ts';
import { readGenerationDefaults } from '../../models/generation-config.ts';
import type { UpstreamDialect } from './completion-body.ts';
import { badAnswer, modelNotServed } from '../../../protocol/upstream-errors.ts';

/** The upstream's model. */
export interface UpstreamModel extends UpstreamDialect {
  readonly modelInfo: ModelInfo;
  readonly backendInfo: BackendInfo;
}

const size = v.pipe(v.number(), v.integer(), v.minValue(1));

const modelList = v.object({
  data: v.array(
    v.object({
      id: v.string(),
      owned_by: v.optional(v.string()),
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
 * Picks the model from the answer to `GET /v1/models`: the one that the bridge names, or else the first.
 *
 * @throws UpstreamError.
 */
export function readUpstreamModel({ url, model }: UpstreamInit, body: string): UpstreamModel {
  const parsed = v.safeParse(modelList, parseJson(body));
  if (!parsed.success) throw badAnswer(url, 'something that is not a list of models');
  const cards = parsed.output.data;
  const card = model === undefined ? cards[0] : cards.find(({ id }) => id === model);
  if (!card) {
    const names = cards.map((other) => other.id).join(', ') || 'none';
    throw modelNotServed(url, model ?? 'any', names);
  }
  const { id, owned_by: owner, max_model_len: maxModelLength, metadata } = card;
  const contextLength = maxModelLength ?? metadata?.max_request_context_length ?? 0;
  return {
    modelId: id,
    isVllm: owner === 'vllm' || contextLength > 0,
    modelInfo: {
      id,
      numParameters: 0,
      numLayers: 0,
      contextLength,
      vocabSize: 0,
      // The upstream rejects a chat if its model has no template.
      hasChatTemplate: true,
      generationDefaults: readGenerationDefaults({}, contextLength || Infinity),
    },
    backendInfo: {
      name: 'upstream',
      precision: 'unknown',
      adapter: url,
      fallbackReason: '',
    },
  };
}

import * as v from 'valibot';
import type { TabserveClient } from '../../src/client/client.ts';
import { MAX_TEXT_LENGTH, MAX_TOKEN_IDS } from '../../src/protocol/wire.ts';
import { parseBody } from '../../src/protocol/openai/fields.ts';
import { readJson } from '../http/read-body.ts';
import { workRoute, type Route } from '../http/router.ts';
import { servedModel } from '../tabs/tab-link.ts';

// The message of each part says what is expected.
const model = v.optional(v.string('a text'));
const flag = (byDefault: boolean) => v.optional(v.boolean('true or false'), byDefault);
const tokenId = v.pipe(
  v.number('a token id'),
  v.safeInteger('a whole number'),
  v.minValue(0, 'a token id from 0 on'),
);

const tokenizeRequest = v.object({
  model,
  prompt: v.pipe(
    v.string('a text'),
    v.maxLength(MAX_TEXT_LENGTH, `a text of at most ${MAX_TEXT_LENGTH} characters`),
  ),
  add_special_tokens: flag(true),
  return_token_strs: flag(false),
});

const detokenizeRequest = v.object({
  model,
  tokens: v.pipe(
    v.array(tokenId, 'a list of token ids'),
    v.maxLength(MAX_TOKEN_IDS, `a list of at most ${MAX_TOKEN_IDS} token ids`),
  ),
});

/** `POST /tokenize` and `POST /detokenize`, as vLLM's. */
export function tokenRoutes(serve: TabserveClient): readonly Route[] {
  return [
    workRoute('/tokenize', async (exchange) => {
      const asked = parseBody(tokenizeRequest, await readJson(exchange.request));
      await servedModel(serve, exchange.signal);
      const { modelId, contextLength, tokenIds, spellings } = await serve.tokenize(asked.prompt, {
        addSpecialTokens: asked.add_special_tokens,
      });
      exchange.checkModel(asked.model, modelId);
      exchange.sendJson(200, {
        count: tokenIds.length,
        max_model_len: Math.min(contextLength, serve.status().policy.maxContextLength),
        tokens: tokenIds,
        token_strs: asked.return_token_strs ? spellings : null,
      });
    }),
    workRoute('/detokenize', async (exchange) => {
      const asked = parseBody(detokenizeRequest, await readJson(exchange.request));
      await servedModel(serve, exchange.signal);
      const { modelId, text } = await serve.detokenize(asked.tokens);
      exchange.checkModel(asked.model, modelId);
      exchange.sendJson(200, { prompt: text });
    }),
  ];
}

import * as v from 'valibot';

import type { TokenLogprobs } from '../../protocol/generation.ts';
import { count } from '../../protocol/wire.ts';
import { badAnswer, parseJson, toStreamError } from './upstream-failure.ts';

/** OpenAI's lists of tokens, of their logprobs and of the likeliest ones instead, as one entry for each token. */
const completionLogprobs = v.pipe(
  v.object({
    tokens: v.array(v.string()),
    token_logprobs: v.array(v.nullable(v.number())),
    top_logprobs: v.optional(v.nullable(v.array(v.nullable(v.record(v.string(), v.number()))))),
  }),
  v.transform(({ tokens, token_logprobs: logprobs, top_logprobs: tops }) =>
    tokens.map((token, place) => ({ token, logprob: logprobs[place], top: tops?.[place] ?? {} })),
  ),
);

const completionChunk = v.object({
  choices: v.array(
    v.object({
      index: count,
      text: v.string(),
      finish_reason: v.optional(v.nullable(v.string())),
      token_ids: v.optional(v.nullable(v.array(count))),
      logprobs: v.optional(v.nullable(completionLogprobs)),
    }),
  ),
  usage: v.optional(v.nullable(v.object({ prompt_tokens: count, completion_tokens: v.optional(count) }))),
});

/** One event of a streamed `/v1/completions`. */
export type CompletionChunk = v.InferOutput<typeof completionChunk>;
export type ChunkChoice = CompletionChunk['choices'][number];

/** @throws UpstreamError, BackPressureError for an error in the stream, or an event that is not a completion. */
export function readChunk(url: string, data: string): CompletionChunk {
  const parsed = v.safeParse(completionChunk, parseJson(data));
  if (parsed.success) return parsed.output;
  throw toStreamError(url, data) ?? badAnswer(url, 'an event that is not a completion');
}

/** @param numLogprobs Alternatives that were asked for: a vLLM adds the sampled token if it is not among them. */
export function readLogprobs(
  url: string,
  given: v.InferOutput<typeof completionLogprobs>,
  numLogprobs: number,
): readonly TokenLogprobs[] {
  return given.map(({ token, logprob, top }) => ({
    tokenId: idOf(url, token),
    logprob: logprob ?? -Infinity,
    top: Object.entries(top)
      .map(([name, value]) => ({ tokenId: idOf(url, name), logprob: value }))
      .toSorted((a, b) => b.logprob - a.logprob)
      .slice(0, numLogprobs),
  }));
}

/** A vLLM writes the id of a token in place of its text on request. */
function idOf(url: string, token: string): number {
  const [, id] = /^token_id:(\d+)$/.exec(token) ?? [];
  if (id === undefined) throw badAnswer(url, 'logprobs of tokens without ids, which only vLLM adds');
  return Number(id);
}

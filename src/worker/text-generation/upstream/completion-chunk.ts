import * as v from 'valibot';

import type { PromptTokenLogprobs, TokenLogprobs } from '../../protocol/generation.ts';
import { badAnswer, parseJson, toStreamError } from './upstream-failure.ts';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const completionLogprobs = v.object({
  tokens: v.array(v.string()),
  token_logprobs: v.array(v.nullable(v.number())),
  top_logprobs: v.optional(v.nullable(v.array(v.nullable(v.record(v.string(), v.number()))))),
});

const chunkChoice = v.object({
  index: count,
  text: v.string(),
  finish_reason: v.optional(v.nullable(v.string())),
  token_ids: v.optional(v.nullable(v.array(count))),
  logprobs: v.optional(v.nullable(completionLogprobs)),
});

const completionChunk = v.object({
  choices: v.array(chunkChoice),
  usage: v.optional(v.nullable(v.object({ prompt_tokens: count, completion_tokens: v.optional(count) }))),
});

/** One event of a streamed `/v1/completions`. */
export type CompletionChunk = v.InferOutput<typeof completionChunk>;
export type ChunkChoice = v.InferOutput<typeof chunkChoice>;
type CompletionLogprobs = v.InferOutput<typeof completionLogprobs>;

/** @throws UpstreamError, BackPressureError for an error in the stream, or an event that is not a completion. */
export function readChunk(url: string, data: string): CompletionChunk {
  const parsed = v.safeParse(completionChunk, parseJson(data));
  if (parsed.success) return parsed.output;
  throw toStreamError(url, data) ?? badAnswer(url, 'an event that is not a completion');
}

/** @param numLogprobs Alternatives that were asked for: a vLLM adds the sampled token if it is not among them. */
export function readLogprobs(
  url: string,
  { tokens, token_logprobs: logprobs, top_logprobs: tops }: CompletionLogprobs,
  numLogprobs: number,
): readonly TokenLogprobs[] {
  return tokens.map((token, place) => ({
    tokenId: idOf(url, token),
    logprob: logprobs[place] ?? -Infinity,
    top: Object.entries(tops?.[place] ?? {})
      .map(([name, logprob]) => ({ tokenId: idOf(url, name), logprob }))
      .toSorted((a, b) => b.logprob - a.logprob)
      .slice(0, numLogprobs),
  }));
}

/** As `readLogprobs`; the first token of a prompt has no logprob. */
export function readPromptLogprobs(
  url: string,
  given: CompletionLogprobs,
  numLogprobs: number,
): readonly PromptTokenLogprobs[] {
  return readLogprobs(url, given, numLogprobs).map((entry, place) =>
    place === 0 ? { tokenId: entry.tokenId, logprob: null, top: [] } : entry,
  );
}

export function sliceLogprobs(
  { tokens, token_logprobs: logprobs, top_logprobs: tops }: CompletionLogprobs,
  start: number,
  end?: number,
): CompletionLogprobs {
  return {
    tokens: tokens.slice(start, end),
    token_logprobs: logprobs.slice(start, end),
    top_logprobs: tops?.slice(start, end),
  };
}

/** A vLLM writes the id of a token in place of its text on request. */
function idOf(url: string, token: string): number {
  const [, id] = /^token_id:(\d+)$/.exec(token) ?? [];
  if (id === undefined) throw badAnswer(url, 'logprobs of tokens without ids, which only vLLM adds');
  return Number(id);
}

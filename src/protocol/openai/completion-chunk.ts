import * as v from 'valibot';

import { parseJson } from '../../platform/parse-json.ts';
import type { AnswerPart } from '../answers.ts';
import type { TokenLogprobs } from '../generation.ts';
import { count, recordOf } from '../wire.ts';
import { badAnswer } from '../server-errors.ts';
import { toStreamError } from '../server-failure.ts';

const tokenLogprob = { token: v.string(), logprob: v.number() };

/** OpenAI's separate lists of tokens, logprobs and alternatives, as one entry for each token. */
const completionLogprobs = v.pipe(
  v.object({
    tokens: v.array(v.string()),
    token_logprobs: v.array(v.nullable(v.number())),
    top_logprobs: v.optional(v.nullable(v.array(v.nullable(recordOf(v.number()))))),
  }),
  v.transform(({ tokens, token_logprobs: logprobs, top_logprobs: tops }) =>
    tokens.map((token, place) => ({ token, logprob: logprobs[place], top: tops?.[place] ?? {} })),
  ),
);

/** OpenAI's list of a chat's tokens, in the same form. */
const chatLogprobs = v.pipe(
  v.object({
    content: v.nullable(
      v.array(v.object({ ...tokenLogprob, top_logprobs: v.array(v.object(tokenLogprob)) })),
    ),
  }),
  v.transform(({ content }) =>
    (content ?? []).map(({ token, logprob, top_logprobs: top }) => ({
      token,
      logprob,
      top: Object.fromEntries(top.map((other) => [other.token, other.logprob])),
    })),
  ),
);

/** The fields of choices in both APIs. */
const choiceEntries = {
  index: count,
  finish_reason: v.optional(v.nullable(v.string())),
  token_ids: v.optional(v.nullable(v.array(count))),
};

const usage = v.object({
  prompt_tokens: count,
  completion_tokens: v.optional(count),
  prompt_tokens_details: v.optional(v.nullable(v.object({ cached_tokens: v.optional(v.nullable(count)) }))),
});

const noParts: readonly AnswerPart[] = [];

const completionChunk = v.object({
  choices: v.array(
    v.pipe(
      v.object({
        ...choiceEntries,
        text: v.string(),
        logprobs: v.optional(v.nullable(completionLogprobs)),
      }),
      v.transform((choice) => ({ ...choice, parts: noParts })),
    ),
  ),
  usage: v.optional(v.nullable(usage)),
});

const text = v.optional(v.nullable(v.string()));

const chatDelta = v.object({
  content: text,
  reasoning_content: text,
  /** vLLM's newer name. */
  reasoning: text,
  tool_calls: v.optional(
    v.nullable(
      v.array(
        v.object({
          index: v.optional(count, 0),
          id: text,
          function: v.optional(v.object({ name: text, arguments: text })),
        }),
      ),
    ),
  ),
});

/** In the order in which a model writes them. A call begins with its name. */
function partsOf(delta: v.InferOutput<typeof chatDelta>): readonly AnswerPart[] {
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  const calls = (delta.tool_calls ?? []).flatMap(({ index, id, function: call = {} }): AnswerPart[] => [
    ...(call.name ? [{ type: 'tool-call', index, id: id ?? `call_${index}`, name: call.name } as const] : []),
    ...(call.arguments ? [{ type: 'tool-arguments', index, text: call.arguments } as const] : []),
  ]);
  return [
    ...(reasoning ? [{ type: 'reasoning', text: reasoning } as const] : []),
    ...(delta.content ? [{ type: 'content', text: delta.content } as const] : []),
    ...calls,
  ];
}

/** A chunk's text is in its delta. The first delta only has a role. */
const chatChunk = v.object({
  choices: v.array(
    v.pipe(
      v.object({
        ...choiceEntries,
        delta: chatDelta,
        logprobs: v.optional(v.nullable(chatLogprobs)),
      }),
      v.transform(({ delta, ...choice }) => ({
        ...choice,
        text: delta.content ?? '',
        parts: partsOf(delta),
      })),
    ),
  ),
  usage: v.optional(v.nullable(usage)),
});

/** One event of a streamed `/v1/completions`, or of a chat's answer. */
export type CompletionChunk = v.InferOutput<typeof completionChunk>;
export type ChunkChoice = CompletionChunk['choices'][number];

/** @throws ServerError, BackPressureError for an error in the stream, or an event that is not a completion. */
export function readChunk(url: string, data: string, isChat: boolean): CompletionChunk {
  const parsed = v.safeParse(isChat ? chatChunk : completionChunk, parseJson(data));
  if (parsed.success) return parsed.output;
  throw toStreamError(url, data) ?? badAnswer(url, 'with an event that is not a completion');
}

/** @param numLogprobs Number of requested alternatives. vLLM adds the sampled token if it is not among them. */
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

/** vLLM writes the ID of a token in place of its text on request. */
function idOf(url: string, token: string): number {
  const [, id] = /^token_id:(\d+)$/.exec(token) ?? [];
  if (id === undefined) throw badAnswer(url, 'with logprobs of tokens without ids, which only vLLM adds');
  return Number(id);
}

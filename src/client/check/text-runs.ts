import type { RequestId } from '../../protocol/ids.ts';
import { untilAborted } from '../../platform/until-aborted.ts';
import type { CheckedClient, CheckedOptions, CheckedResponse } from './checked-client.ts';
import { partingOf, type Parting } from './compare-texts.ts';

/** Of nine lengths, so that their rows are ragged. */
export const PROMPTS: readonly string[] = Array.from(
  { length: 9 },
  (_, index) => `Once there were ${index + 2} ${'very '.repeat(index)}small cats, and`,
);

export type TokenIds = readonly number[];

/** Who asks, and where. */
export interface Runner {
  readonly serve: CheckedClient;
  readonly signal: AbortSignal;
  readonly onRequest: (requestId: RequestId) => void;
}

export function submit(
  { serve, signal, onRequest }: Runner,
  prompts: readonly (string | TokenIds)[],
  options: CheckedOptions,
): readonly CheckedResponse[] {
  // Texts that wait in other tabs start first.
  const all = { ...options, priority: 1, signal };
  const responses = serve.getHandle('text-generator').remoteAll(prompts, all);
  for (const { requestId } of responses) onRequest(requestId);
  return responses;
}

/** The texts as they came, by their tokens: what a reader of the stream has seen. */
export function together(
  runner: Runner,
  prompts: readonly string[],
  options: CheckedOptions,
): Promise<readonly TokenIds[]> {
  return Promise.all(submit(runner, prompts, options).map((response) => streamedIds(response)));
}

export async function oneByOne(
  runner: Runner,
  prompts: readonly string[],
  options: CheckedOptions,
): Promise<readonly TokenIds[]> {
  const texts: TokenIds[] = [];
  for (const prompt of prompts) texts.push(...(await together(runner, [prompt], options)));
  return texts;
}

/** @param onBegun Called at the first token. */
export async function streamedIds(response: CheckedResponse, onBegun = () => {}): Promise<TokenIds> {
  let streamed: number[] = [];
  for await (const { tokenIds, isRestart } of response) {
    if (isRestart) streamed = [];
    if (streamed.length === 0 && tokenIds.length > 0) onBegun();
    streamed.push(...tokenIds);
  }
  return streamed;
}

/** Where texts of the same prompts part, and with which margin, which the first runner is asked for. */
export async function partingsOf(
  runner: Runner,
  prompts: readonly string[],
  a: readonly TokenIds[],
  b: readonly TokenIds[],
): Promise<readonly Parting[]> {
  const partings: Parting[] = [];
  for (const [text, tokenIds] of a.entries()) {
    const token = partingOf(tokenIds, b[text] ?? []);
    if (token === undefined) continue;
    const margin = await marginAt(runner, prompts[text] ?? '', tokenIds.slice(0, token));
    partings.push({ text, token, margin });
  }
  return partings;
}

/** How far the likeliest next token is ahead of the second one. */
async function marginAt(runner: Runner, prompt: string, tokenIds: TokenIds): Promise<number> {
  const { tokenIds: promptIds } = await untilAborted(runner.serve.tokenize(prompt), runner.signal);
  const options = { maxNewTokens: 1, temperature: 0, logprobs: 2 };
  const [response] = submit(runner, [[...promptIds, ...tokenIds]], options);
  const result = await response?.result();
  const [first, second] = result?.logprobs?.[0]?.top ?? [];
  return first && second ? first.logprob - second.logprob : Infinity;
}

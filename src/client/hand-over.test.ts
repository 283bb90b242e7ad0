import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../batching/generation/policy.ts';
import { clientId, requestId } from '../batching/generation/test-support.ts';
import { ModelGenerator } from '../worker/text-generation/model-generator.ts';
import type { ChatMessage } from '../protocol/chat.ts';
import type { Prompt } from '../protocol/chat.ts';
import { ResumableRequest } from './resumable-request.ts';
import type { GenerationOptions, GenerationResult, PromptTokenLogprobs } from '../protocol/generation.ts';
import type { RequestUpdate, Resumption } from '../protocol/requests.ts';
import { ScriptedBackend } from '../worker/testing/scripted-backend.ts';
import { createScriptedModel, scriptedChatTemplate } from '../worker/test-support.ts';
import { submitAll } from '../worker/text-generation/test-support.ts';
import { someOf } from '../batching/testing/whole-run.ts';

// One worker is lost after any of its messages, and another takes over. The tab receives the same as from a single worker.

const ID = requestId('r');
const PROMPT = 'ab';
const CHAT: readonly ChatMessage[] = [{ role: 'user', content: 'ab' }];

/** Two tokens that are half a character each. */
const BYTES = new Map([
  [20, Uint8Array.of(0xc3)],
  [21, Uint8Array.of(0xa9)],
]);

/** One worker's updates of the request, one list per message. */
async function generate(input: Prompt, options: GenerationOptions, resumption?: Resumption) {
  const messages: (readonly RequestUpdate[])[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const generator: ModelGenerator = new ModelGenerator(
    createScriptedModel(new ScriptedBackend(), { bytes: BYTES, chatTemplate: scriptedChatTemplate }),
    { ...DEFAULT_POLICY, maxBatchSize: 2 },
    {
      onUpdates: (updates) => messages.push(updates),
      onStep: () => generator.gauges.numRunning + generator.gauges.numWaiting === 0 && resolve(),
      onEnded: () => {},
      onRuntimeLost: () => {},
    },
  );
  const submission = { requestId: ID, clientId: clientId('tab'), input, options, elapsedMs: 0 };
  submitAll(generator, [{ ...submission, ...(resumption && { resumption }) }]);
  await promise;
  return messages.filter((updates) => updates.length > 0);
}

/** The streamed texts and prompt logprobs of each continuation, and the result without its timings. */
function heard(updates: readonly RequestUpdate[]) {
  const texts: string[] = [];
  const promptLogprobs: PromptTokenLogprobs[][] = [];
  let result: Omit<GenerationResult, 'timings'> | undefined;
  for (const update of updates) {
    if (update.type === 'chunk' || update.type === 'echo')
      texts[update.index] = (texts[update.index] ?? '') + update.text;
    if (update.type === 'echo' && update.promptLogprobs)
      (promptLogprobs[update.index] ??= []).push(...update.promptLogprobs);
    if (update.type === 'finished') {
      const { timings: _timings, ...rest } = update.result;
      result = rest;
    }
  }
  return { texts, promptLogprobs, result };
}

describe('a request whose worker is lost', () => {
  const sampled = { temperature: 1, seed: 4, maxNewTokens: 12 };
  it.each<readonly [string, GenerationOptions]>([
    ['with a stop string half matched', { seed: 1, maxNewTokens: 9, stop: 'defg' }],
    [
      'with the beginning of a stop string that does not come',
      { seed: 1, maxNewTokens: 4, stop: ['dex', 'efgh'] },
    ],
    ['inside a character', { seed: 1, maxNewTokens: 24 }],
    ['with three continuations, more than run at once', { ...sampled, n: 3, echo: true, logprobs: 2 }],
    [
      'with the logprobs of its prompt',
      { ...sampled, n: 3, echo: true, logprobs: 1, promptLogprobs: 1, maxNewTokens: 3 },
    ],
    [
      'that scores its prompt and generates nothing',
      { seed: 1, n: 2, echo: true, promptLogprobs: 2, maxNewTokens: 0 },
    ],
    ['that is not to end too early', { seed: 1, stop: ['de', 'fgh'], minTokens: 4, maxNewTokens: 9 }],
    [
      'that ends with a stop token',
      { ...sampled, n: 3, stopTokenIds: [1, 2, 3, 4, 5, 6, 7, 8], includeStopStrInOutput: true },
    ],
    ['that goes on after the end token', { ...sampled, n: 2, maxNewTokens: 30, ignoreEos: true, topK: 1 }],
    ['with continuations that stop at different times', { ...sampled, n: 4, stop: ['x', 'y', 'z', 'k'] }],
  ])('%s comes to the same, whichever message was its last', async (_, options) => {
    const { whole, afterLosses } = await loseEach(PROMPT, options);
    const numUnheard = options.echo ? 0 : PROMPT.length;
    expect(whole.result?.choices.map(({ text }) => text.slice(numUnheard))).toEqual(whole.texts);
    for (const [numHeard, after] of afterLosses)
      expect(after, `lost after message ${numHeard}`).toEqual(whole);
  });

  it.each<readonly [string, GenerationOptions]>([
    ['which runs until its end', { seed: 1 }],
    ['with several answers', { ...sampled, n: 3, logprobs: 1 }],
  ])('that is a chat, %s, comes to the same', async (_, options) => {
    const { whole, afterLosses } = await loseEach(CHAT, options);
    expect(whole.result?.choices.map(({ text }) => text)).toEqual(whole.texts);
    for (const [numHeard, after] of afterLosses)
      expect(after, `lost after message ${numHeard}`).toEqual(whole);
  });
});

/** The tab's messages without a lost worker, and with a worker that is lost after each of its messages. */
async function loseEach(prompt: Prompt, options: GenerationOptions) {
  const messages = await generate(prompt, options);
  const afterLosses = new Map<number, ReturnType<typeof heard>>();
  for (const numHeard of someOf([...messages.keys()], 12)) {
    const request = new ResumableRequest(
      { requestId: ID, deployment: 'text-generator', input: prompt, options },
      { apply: () => {} },
      0,
    );
    request.takeMessage(0);
    const before = messages.slice(0, numHeard).flat();
    for (const update of before) request.apply(update);
    const message = request.takeMessage(0);
    const resumption = message.type === 'submit' ? message.resumption : undefined;
    const after = await generate(prompt, options, resumption);
    afterLosses.set(numHeard, heard([...before, ...after.flat()]));
  }
  return { whole: heard(messages.flat()), afterLosses };
}

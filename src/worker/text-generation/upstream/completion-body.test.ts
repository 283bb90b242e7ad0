import { expect, it } from 'vitest';
import { resolveOptions } from '../generation-options.ts';
import type { GenerationOptions } from '../../protocol/generation.ts';
import { completionBody } from './completion-body.ts';
import { readUpstreamModel } from './upstream-model.ts';

function bodyFor(owner: string, options: GenerationOptions): object {
  const model = readUpstreamModel(
    { url: 'http://gpu:8000' },
    JSON.stringify({ data: [{ id: 'gpt2', owned_by: owner }] }),
  );
  const limits = { ...model.modelInfo, contextLength: 1024, vocabSize: Infinity };
  return completionBody('Once', resolveOptions({ seed: 7, ...options }, limits), model);
}

const COMMON = {
  model: 'gpt2',
  prompt: 'Once',
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 64,
  temperature: 0,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  seed: 7,
  n: 1,
};

it("names every default to a vLLM, which has others, and asks for its tokens' ids", () => {
  expect(bodyFor('vllm', {})).toEqual({
    ...COMMON,
    stream_options: { include_usage: true, continuous_usage_stats: true },
    top_k: 0,
    min_p: 0,
    repetition_penalty: 1,
    return_token_ids: true,
  });
});

it('says nothing to any other server that OpenAI would not understand, unless it was asked for', () => {
  expect(bodyFor('openai', {})).toEqual(COMMON);
  expect(bodyFor('openai', { topK: 5, stop: 'END', logitBias: { 3: 2 }, echo: true, timeoutMs: 9 })).toEqual({
    ...COMMON,
    top_k: 5,
    stop: ['END'],
    logit_bias: { 3: 2 },
  });
});

it('says what ends a text in vLLM’s words, where it was asked for', () => {
  const ending = { stopTokenIds: [3], includeStopStrInOutput: true, minTokens: 2, ignoreEos: true };
  expect(bodyFor('openai', ending)).toEqual({
    ...COMMON,
    stop_token_ids: [3],
    include_stop_str_in_output: true,
    min_tokens: 2,
    ignore_eos: true,
  });
});

it.each([
  ['the logprobs of the prompt', { promptLogprobs: 3, logprobs: 1 }, { logprobs: 3, max_tokens: 64 }],
  ['nothing generated', { maxNewTokens: 0 }, { max_tokens: 0 }],
])('asks for an echo where it is to have %s', (_, options, expected) => {
  expect(bodyFor('openai', options)).toMatchObject({ ...expected, echo: true });
});

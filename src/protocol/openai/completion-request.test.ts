import { describe, expect, it } from 'vitest';

import { HttpError } from './http-error.ts';
import { readCompletionRequest } from './completion-request.ts';

describe('a value that asks for nothing', () => {
  it.each([
    { best_of: 1 },
    { best_of: 3, n: 3 },
    { suffix: '' },
    { skip_special_tokens: true },
    { spaces_between_special_tokens: true },
    { spaces_between_special_tokens: false },
    { bad_words: [] },
    { store: true },
    { metadata: { run: '7' } },
    { user: 'ann' },
    { stream: true, stream_options: { include_obfuscation: false, continuous_usage_stats: true } },
    { suffix: null, best_of: null, logprobs: null, stop_token_ids: null },
  ])('is taken, and changes no option: %o', (given) => {
    const { n, ...options } = readCompletionRequest({ prompt: 'Once', ...given }).options;
    expect(options).toEqual({ maxNewTokens: 16 });
    expect(n).toBe('n' in given ? given.n : undefined);
  });

  it("is vLLM's -1 for all of top-k", () => {
    expect(readCompletionRequest({ prompt: 'Once', top_k: -1 }).options.topK).toBe(0);
  });

  it.each([
    [{ best_of: 2 }, 'best_of', /ask for all of them with `n`/],
    [{ best_of: 2, n: 3 }, 'best_of', /must not be below `n`/],
    [{ suffix: '!' }, 'suffix', /`suffix` isn't supported here: leave it out, or pass ""/],
    [{ skip_special_tokens: false }, 'skip_special_tokens', /or pass true/],
    [{ use_beam_search: true }, 'use_beam_search', /or pass false/],
    [{ bad_words: ['x'] }, 'bad_words', /or pass \[\]/],
    [{ store: 'yes' }, 'store', /`store` to be true or false, got `yes`/],
    [{ metadata: 'x' }, 'metadata', /`metadata` to be an object, got/],
    [{ stream: true, stream_options: { include_obfuscation: 1 } }, 'stream_options', /include_obfuscation/],
    [{ stream: true, stream_options: { include_secrets: true } }, 'include_secrets', /Unknown option/],
    [{ stream: true, prompt_logprobs: 0 }, 'prompt_logprobs', /`echo` and `logprobs`/],
  ])('has values beside it that are refused by name: %o', (given, param, message) => {
    const read = (): unknown => readCompletionRequest({ prompt: 'Once', ...given });
    expect(read).toThrow(HttpError);
    expect(read).toThrow(
      expect.objectContaining({ status: 400, param, message: expect.stringMatching(message) }),
    );
  });
});

it.each([
  [['Once', 5], 'prompt[1]'],
  [[[1], []], 'prompt[1]'],
  [[1, 2, 'x'], 'prompt[2]'],
  [{}, 'prompt'],
])('names the part of the prompt %j that is none', (prompt, param) => {
  expect(() => readCompletionRequest({ prompt })).toThrow(expect.objectContaining({ param }));
});

it('reads the options that vLLM adds', () => {
  const given = {
    ignore_eos: true,
    min_tokens: 3,
    stop_token_ids: [5],
    include_stop_str_in_output: true,
    seed: -1,
  };
  expect(readCompletionRequest({ prompt: 'Once', ...given }).options).toEqual({
    maxNewTokens: 16,
    ignoreEos: true,
    minTokens: 3,
    stopTokenIds: [5],
    includeStopStrInOutput: true,
    seed: -1,
  });
});

it.each([
  [{ echo: true, logprobs: 5 }, 5],
  [{ echo: true, logprobs: 5, prompt_logprobs: 2 }, 2],
  [{ echo: true }, undefined],
  [{ logprobs: 5 }, undefined],
])('asks for the logprobs of an echoed prompt where the text is to have some: %o', (given, expected) => {
  expect(readCompletionRequest({ prompt: 'Once', ...given }).options.promptLogprobs).toBe(expected);
});

import { readFileSync } from 'node:fs';

import OpenAI, { BadRequestError, NotFoundError, RateLimitError } from 'openai';

import { DEFAULT_POLICY } from '../src/batching/generation/policy.ts';
import { expect, test, type ServedBridge } from './support/bridge-test.ts';
import { ANY_BACKEND } from './support/test.ts';

const MODEL = 'storyteller';
const PROMPT = 'Once upon a time';

/** From transformers, in fp64, made by tools/train/storyteller/references.py. */
interface PromptReference {
  readonly prompt: string;
  readonly logprobs: readonly TokenReference[];
  /** Whether the likeliest tokens are so far apart that rounding can't swap two of them. */
  readonly isOrderClear: boolean;
}

interface TokenReference {
  readonly tokenId: number;
  readonly logprob: number | null;
  readonly top: readonly { readonly tokenId: number; readonly logprob: number }[];
}

const REFERENCE: {
  readonly prompts: readonly PromptReference[];
  readonly wholeContext: { readonly tokenIds: number[]; readonly logprobs: readonly (number | null)[] };
} = JSON.parse(
  readFileSync(
    new URL('../tools/reference/fixtures/prompt-logprobs-reference.json', import.meta.url),
    'utf8',
  ),
);

function clientOf({ url }: ServedBridge): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
}

test.describe("OpenAI's own client", { tag: ANY_BACKEND }, () => {
  test('lists the model that serves, and finds it by its name', async ({ served }) => {
    const client = clientOf(served);
    const models = await client.models.list();
    expect(models.data.map(({ id }) => id)).toEqual([MODEL]);
    expect(await client.models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
    await expect(client.models.retrieve('openai-community/gpt2')).rejects.toBeInstanceOf(NotFoundError);
  });

  test('completes a prompt as the page does', async ({ served }) => {
    const completion = await clientOf(served).completions.create({ model: MODEL, prompt: PROMPT, seed: 3 });
    const inPage = await served.tab.generate(PROMPT, { maxNewTokens: 16, seed: 3 });
    expect(completion).toMatchObject({
      object: 'text_completion',
      model: MODEL,
      choices: [{ index: 0, text: inPage.generatedText, finish_reason: 'length', logprobs: null }],
      usage: { prompt_tokens: 4, completion_tokens: 16, total_tokens: 20 },
    });
  });

  test('completes texts and lists of token ids, several at once, each several times', async ({ served }) => {
    const client = clientOf(served);
    const options = { model: MODEL, max_tokens: 5, temperature: 0.9, seed: 11, n: 3 };
    const { choices } = await client.completions.create({ ...options, prompt: [PROMPT, 'My name is'] });
    const inPage = await served.tab.generateAll(
      [PROMPT, 'My name is'].map((prompt) => ({
        prompt,
        options: { maxNewTokens: 5, temperature: 0.9, seed: 11, n: 3 },
      })),
    );
    const expected = inPage.flatMap((result) => result.choices.map(({ generatedText }) => generatedText));
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(choices.map(({ text }) => text)).toEqual(expected);

    const [result] = await served.tab.generateAll([{ prompt: PROMPT, options: { maxNewTokens: 6 } }]);
    const [first = 0, ...others] = result?.tokenIds ?? [];
    const echoed = await client.completions.create({
      model: MODEL,
      prompt: [[first, ...others], [first]],
      max_tokens: 2,
      echo: true,
    });
    expect(echoed.choices[0]?.text.startsWith(result?.generatedText ?? '?')).toBe(true);
    expect(echoed.choices.map(({ index }) => index)).toEqual([0, 1]);
    expect(result?.generatedText.startsWith(echoed.choices[1]?.text[0] ?? '?')).toBe(true);
  });

  test('stops before a stop string', async ({ served }) => {
    const options = { model: MODEL, prompt: PROMPT, max_tokens: 40, temperature: 0 };
    const client = clientOf(served);
    const whole = await client.completions.create(options);
    const text = whole.choices[0]?.text ?? '';
    const word = text.trim().split(/\s+/)[3] ?? '';
    const { choices } = await client.completions.create({ ...options, stop: [word, 'never'] });
    expect(choices[0]).toMatchObject({ text: text.slice(0, text.indexOf(word)), finish_reason: 'stop' });
  });

  test('streams, with what was used at the end', async ({ served }) => {
    const options = { model: MODEL, prompt: [PROMPT, 'My'], max_tokens: 8, n: 2, temperature: 1, seed: 5 };
    const client = clientOf(served);
    const whole = await client.completions.create(options);
    const texts = whole.choices.map(() => '');
    const ends: unknown[] = [];
    const usages: unknown[] = [];
    let numChunks = 0;
    for await (const chunk of await client.completions.create({
      ...options,
      stream: true,
      stream_options: { include_usage: true },
    })) {
      numChunks += 1;
      for (const { index, text, finish_reason: reason } of chunk.choices) {
        texts[index] += text;
        if (reason) ends[index] = reason;
      }
      if (chunk.usage) usages.push(chunk.usage);
    }
    expect(texts).toEqual(whole.choices.map(({ text }) => text));
    expect(ends).toEqual(whole.choices.map(({ finish_reason: reason }) => reason));
    expect(usages).toEqual([whole.usage]);
    expect(numChunks).toBeGreaterThan(8);
  });

  test('gets log probabilities in its own shape, in one answer and in a stream', async ({ served }) => {
    const options = { model: MODEL, prompt: PROMPT, max_tokens: 6, logprobs: 3, temperature: 0 };
    const client = clientOf(served);
    const { choices } = await client.completions.create(options);
    const [choice] = choices;
    const [inPage] = (await served.tab.generate(PROMPT, { maxNewTokens: 6, logprobs: 3, temperature: 0 }))
      .choices;
    const logprobs = choice?.logprobs;
    expect(logprobs?.tokens?.join('')).toBe(choice?.text);
    expect(logprobs?.token_logprobs).toEqual(inPage?.logprobs?.map(({ logprob }) => logprob));
    expect(logprobs?.top_logprobs?.map((top) => Object.keys(top).length)).toEqual([3, 3, 3, 3, 3, 3]);
    for (const [index, offset] of (logprobs?.text_offset ?? []).entries()) {
      expect(choice?.text.slice(offset).startsWith(logprobs?.tokens?.[index] ?? '?')).toBe(true);
    }
    const streamed: unknown[] = [];
    for await (const chunk of await client.completions.create({ ...options, stream: true })) {
      streamed.push(...(chunk.choices[0]?.logprobs?.text_offset ?? []));
    }
    expect(streamed).toEqual(logprobs?.text_offset);
  });

  test('scores a prompt that fills the context, in chunks beside others that generate', async ({
    served,
  }) => {
    const { tokenIds, logprobs } = REFERENCE.wholeContext;
    const { tab } = served;
    await tab.configure({ maxBatchedTokens: 200 });
    const client = clientOf(served);
    const other = client.completions.create({ model: MODEL, prompt: PROMPT, max_tokens: 40, temperature: 0 });
    const { choices } = await client.completions.create({
      model: MODEL,
      prompt: tokenIds,
      echo: true,
      logprobs: 0,
      max_tokens: 0,
    });
    await other;
    await tab.configure({ maxBatchedTokens: DEFAULT_POLICY.maxBatchedTokens });
    expectClose(choices[0]?.logprobs?.token_logprobs, logprobs);
  });

  test('gets the logprobs of the prompt and of each continuation in one list', async ({ served }) => {
    const options = {
      model: MODEL,
      prompt: PROMPT,
      logprobs: 2,
      max_tokens: 4,
      n: 2,
      seed: 5,
      temperature: 1,
    };
    const client = clientOf(served);
    const plain = await client.completions.create(options);
    const { choices } = await client.completions.create({ ...options, echo: true });
    for (const [index, { text, logprobs }] of choices.entries()) {
      const alone = plain.choices[index];
      expect(text).toBe(PROMPT + (alone?.text ?? ''));
      expect(logprobs?.tokens?.join('')).toBe(text);
      expect(logprobs?.token_logprobs?.[0]).toBeNull();
      expect(logprobs?.token_logprobs?.slice(4)).toEqual(alone?.logprobs?.token_logprobs);
      expect(logprobs?.text_offset?.slice(4)).toEqual(
        alone?.logprobs?.text_offset?.map((offset) => offset + PROMPT.length),
      );
    }
  });

  test("gets vLLM's `prompt_logprobs` by token id", async ({ served }) => {
    const [reference] = REFERENCE.prompts;
    if (!reference) throw new Error('The fixture has no prompts.');
    const asked: OpenAI.CompletionCreateParamsNonStreaming & { readonly prompt_logprobs: number } = {
      model: MODEL,
      prompt: reference.prompt,
      max_tokens: 1,
      prompt_logprobs: 1,
    };
    const { choices } = await clientOf(served).completions.create(asked);
    const [first, second] = reference.logprobs;
    expect(choices[0]).toMatchObject({
      logprobs: null,
      prompt_logprobs: [
        null,
        {
          [second?.tokenId ?? '?']: {
            logprob: expect.closeTo(second?.logprob ?? NaN, 3),
            rank: 1,
            decoded_token: expect.any(String),
          },
        },
        ...reference.logprobs.slice(2).map(() => expect.anything()),
      ],
    });
    expect(first?.logprob).toBeNull();
  });

  test('ends a text as vLLM does: stop tokens, stop strings that stay, a least length, no end token', async ({
    served,
  }) => {
    const client = clientOf(served);
    const complete = async (more: object) => {
      const asked: OpenAI.CompletionCreateParamsNonStreaming = {
        model: MODEL,
        prompt: PROMPT,
        temperature: 0,
        ...more,
      };
      const { choices, usage } = await client.completions.create(asked);
      return { text: '', ...choices[0], numTokens: usage?.completion_tokens };
    };
    const whole = await complete({ max_tokens: 20 });
    const [inPage] = await served.tab.generateAll([
      { prompt: PROMPT, options: { maxNewTokens: 20, temperature: 0 } },
    ]);
    const fifth = inPage?.tokenIds[4] ?? -1;
    const before = await complete({ max_tokens: 20, stop_token_ids: [fifth] });
    expect(whole.text.startsWith(before.text)).toBe(true);
    expect(before).toMatchObject({
      finish_reason: 'stop',
      numTokens: (inPage?.tokenIds.indexOf(fifth) ?? 0) + 1,
    });
    const word = whole.text.trim().split(/\s+/)[3] ?? '';
    const kept = await complete({ max_tokens: 20, stop: word, include_stop_str_in_output: true });
    expect(kept.text).toBe(whole.text.slice(0, whole.text.indexOf(word) + word.length));
    const late = await complete({ max_tokens: 20, stop: word, min_tokens: 15 });
    expect(late.numTokens).toBeGreaterThan(14);
    const story = await complete({ max_tokens: 400 });
    expect(story.finish_reason).toBe('stop');
    const longer = await complete({ max_tokens: 400, min_tokens: 400 });
    expect(longer).toMatchObject({ finish_reason: 'length', numTokens: 400 });
    const endless = await complete({ max_tokens: 400, ignore_eos: true });
    expect(endless).toMatchObject({ finish_reason: 'length', numTokens: 400 });
    expect(endless.text.startsWith(story.text)).toBe(true);
  });

  test('takes values that ask for nothing, and says what has made the text', async ({ served }) => {
    const client = clientOf(served);
    const plain: OpenAI.CompletionCreateParamsNonStreaming = {
      model: MODEL,
      prompt: PROMPT,
      seed: 2 ** 32 - 1,
    };
    const first = await client.completions.create(plain);
    const asked: OpenAI.CompletionCreateParamsNonStreaming & Readonly<Record<string, unknown>> = {
      ...plain,
      seed: -1,
      best_of: 1,
      suffix: '',
      top_k: -1,
      user: 'ann',
      store: true,
      metadata: { run: '7' },
      skip_special_tokens: true,
    };
    const second = await client.completions.create(asked);
    const unlimited: OpenAI.CompletionCreateParamsNonStreaming & { readonly top_k: number } = {
      ...plain,
      top_k: 0,
    };
    const third = await client.completions.create(unlimited);
    expect(second.choices).toEqual(third.choices);
    expect(first.system_fingerprint).toMatch(/^fp_/);
    expect(second.system_fingerprint).toBe(first.system_fingerprint);
    for await (const chunk of await client.completions.create({ ...plain, stream: true })) {
      expect(chunk.system_fingerprint).toBe(first.system_fingerprint);
    }
  });

  test("tells vLLM's usage in each chunk of a stream", async ({ served }) => {
    const streamOptions = { include_usage: true, continuous_usage_stats: true };
    const usages = [];
    for await (const { usage } of await clientOf(served).completions.create({
      model: MODEL,
      prompt: PROMPT,
      max_tokens: 5,
      logit_bias: { 2047: -100 },
      stream: true,
      stream_options: streamOptions,
    }))
      usages.push([usage?.prompt_tokens, usage?.completion_tokens]);
    expect(usages).toEqual([...[1, 2, 3, 4, 5].map((count) => [4, count]), [4, 5]]);
  });

  test('aborts a stream, which frees its slot', async ({ served }) => {
    const { tab, log } = served;
    await tab.configure({ maxBatchSize: 1 });
    const controller = new AbortController();
    const before = log.length;
    const stream = await clientOf(served).completions.create(
      // One after the other, they last far longer than the first three chunks.
      { model: MODEL, prompt: PROMPT, max_tokens: 400, n: 8, logit_bias: { 2047: -100 }, stream: true },
      { signal: controller.signal },
    );
    let numChunks = 0;
    for await (const _ of stream) if (++numChunks === 3) controller.abort();
    const after = await tab.generate('My', { maxNewTokens: 1 });
    expect(after.usage.numOutputTokens).toBe(1);
    await expect.poll(() => log.slice(before).map(({ status }) => status)).toEqual([499]);
  });

  test('finds its own classes of errors, which name what is wrong', async ({ served }) => {
    const { tab } = served;
    const client = clientOf(served);
    const failing = async (options: object) => {
      const given: OpenAI.CompletionCreateParamsNonStreaming = { model: MODEL, prompt: PROMPT, ...options };
      return client.completions.create(given).then(
        () => undefined,
        (error: unknown) => error,
      );
    };
    for (const [options, param] of [
      [{ max_tokens: -1 }, 'max_tokens'],
      [{ temperature: -1 }, 'temperature'],
      [{ best_of: 2 }, 'best_of'],
      [{ suffix: '!' }, 'suffix'],
      [{ stream_options: { include_usage: true } }, 'stream_options'],
      [{ prompt: [PROMPT, 7] }, 'prompt[1]'],
      [{ prompt: [1e9] }, 'prompt[0]'],
      [{ n: 'two' }, 'n'],
      [{ prompt_logprobs: 1, stream: true }, 'prompt_logprobs'],
      [{ echo: true, logprobs: 21 }, 'logprobs'],
    ] as const) {
      const error = await failing(options);
      expect(error, JSON.stringify(options)).toBeInstanceOf(BadRequestError);
      expect(error).toMatchObject({ status: 400, param, type: 'invalid_request_error' });
    }
    expect(await failing({ prompt: 'Once upon a time, '.repeat(200) })).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'prompt',
    });
    expect(await failing({ prompt: '' })).toMatchObject({ status: 400, code: 'EMPTY_PROMPT' });
    expect(await failing({ model: 'gpt-4' })).toBeInstanceOf(NotFoundError);
    await tab.configure({ maxBatchSize: 1, maxQueuedRequests: 1 });
    const busy = await Promise.all(
      Array.from({ length: 4 }, () => failing({ max_tokens: 300, logit_bias: { 2047: -100 } })),
    );
    const refused = busy.filter((error) => error !== undefined);
    expect(refused.length).toBeGreaterThanOrEqual(2);
    for (const error of refused) {
      expect(error).toBeInstanceOf(RateLimitError);
      expect(error).toMatchObject({ code: 'BACK_PRESSURE', headers: expect.anything() });
      if (error instanceof RateLimitError)
        expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    // It waits for a second one, so that it can't end before its time is up.
    await tab.configure({ maxBatchSize: 2, maxQueuedRequests: 1000, batchWaitTimeoutMs: 60_000 });
    const late = client.completions.create(
      { model: MODEL, prompt: PROMPT },
      { headers: { 'x-request-timeout-seconds': '0.01', 'x-request-id': 'of-my-own' } },
    );
    await expect(late).rejects.toMatchObject({
      status: 408,
      code: 'REQUEST_TIMEOUT',
      requestID: 'of-my-own',
    });
  });
});

// On a GPU sampling-options.spec.ts scores a prompt that fills the context.
test.describe("OpenAI's own client, on each backend", { tag: ANY_BACKEND }, () => {
  test('scores prompts as PyTorch does: `echo`, `logprobs: 5`, `max_tokens: 0`', async ({ served }) => {
    const client = clientOf(served);
    const prompts = REFERENCE.prompts.map(({ prompt }) => prompt);
    const options = { model: MODEL, prompt: prompts, echo: true, logprobs: 5, max_tokens: 0 };
    const { choices, usage } = await client.completions.create(options);
    expect(choices.map(({ text }) => text)).toEqual(prompts);
    expect(choices.map(({ finish_reason: reason }) => reason)).toEqual(prompts.map(() => 'length'));
    expect(usage).toMatchObject({ completion_tokens: 0 });
    for (const [index, reference] of REFERENCE.prompts.entries()) {
      expectReference(choices[index]?.logprobs, reference);
    }
    const streamed: OpenAI.CompletionChoice[][] = prompts.map(() => []);
    for await (const chunk of await client.completions.create({ ...options, stream: true })) {
      for (const choice of chunk.choices) streamed[choice.index]?.push(choice);
    }
    for (const [index, parts] of streamed.entries()) {
      expect(parts.map(({ text }) => text).join('')).toBe(prompts[index]);
      expect(parts.find(({ logprobs }) => logprobs)?.logprobs).toEqual(choices[index]?.logprobs);
      expect(parts.at(-1)?.finish_reason).toBe('length');
    }
  });
});

function expectReference(
  logprobs: OpenAI.CompletionChoice['logprobs'] | undefined,
  reference: PromptReference,
): void {
  const { prompt, logprobs: expected, isOrderClear } = reference;
  expect(logprobs?.tokens?.join('')).toBe(prompt);
  expectClose(
    logprobs?.token_logprobs,
    expected.map(({ logprob }) => logprob),
  );
  expect(logprobs?.top_logprobs?.[0]).toBeNull();
  for (const [index, { top, tokenId, logprob }] of expected.entries()) {
    if (logprob === null || !isOrderClear) continue;
    const found = Object.values(logprobs?.top_logprobs?.[index] ?? {}).toSorted((a, b) => b - a);
    const isAmongThem = top.some((entry) => entry.tokenId === tokenId);
    const values = [...top.map((entry) => entry.logprob), ...(isAmongThem ? [] : [logprob])];
    expectClose(found, values);
  }
}

function expectClose(
  found: readonly (number | null)[] | undefined,
  expected: readonly (number | null)[],
): void {
  expect(found).toHaveLength(expected.length);
  for (const [index, value] of expected.entries()) {
    if (value === null) expect(found?.[index]).toBeNull();
    else expect(Math.abs((found?.[index] ?? NaN) - value), `place ${index}`).toBeLessThan(1e-3);
  }
}

import { describe, expect, it } from 'vitest';
import { readGenerationDefaults } from '../worker/models/generation-config.ts';
import { createModelInfo } from '../worker/test-support.ts';
import { resolveOptions, timeoutMsOf } from './resolve-options.ts';

const MODEL = createModelInfo({
  generationDefaults: readGenerationDefaults(
    {
      do_sample: true,
      temperature: 0.8,
      top_k: 40,
      top_p: 0.95,
      min_p: 0.01,
      repetition_penalty: 1.1,
      stop_strings: 'END',
    },
    512,
  ),
});

describe('resolveOptions', () => {
  it("fills in the model's defaults and leaves given options alone", () => {
    expect(resolveOptions({ temperature: 0, seed: 9 }, MODEL)).toEqual({
      maxNewTokens: 64,
      ending: {
        stop: ['END'],
        stopTokenIds: [],
        includeStopStrInOutput: false,
        ignoreEos: false,
        minTokens: 0,
      },
      n: 1,
      echo: false,
      tools: [],
      toolChoice: 'auto',
      parallelToolCalls: true,
      chatTemplateArguments: {},
      continueFinalMessage: false,
      priority: 0,
      sampling: {
        temperature: 0,
        topK: 40,
        topP: 0.95,
        minP: 0.01,
        repetitionPenalty: 1.1,
        presencePenalty: 0,
        frequencyPenalty: 0,
        logitBias: {},
        logprobs: undefined,
        seed: 9,
      },
    });
  });

  it.each([
    ['ignoreEos', { ignoreEos: true }],
    ['minTokens', { minTokens: 2 }],
  ])('refuses %s beside a shape, which alone decides where the text ends', (param, options) => {
    const responseFormat = { type: 'json_object' };
    expect(resolveOptions({ responseFormat }, MODEL)).toMatchObject({ responseFormat });
    expect(() => resolveOptions({ responseFormat, ...options }, MODEL)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', param }),
    );
  });

  it('passes on what changes single tokens, and how many logprobs are wanted', () => {
    const options = { presencePenalty: -2, frequencyPenalty: 2, logitBias: { 2047: -100 }, logprobs: 0 };
    expect(resolveOptions(options, MODEL).sampling).toMatchObject({
      presencePenalty: -2,
      frequencyPenalty: 2,
      logitBias: { 2047: -100 },
      logprobs: 0,
    });
  });

  it('reads `logprobs: true` as 0, and `false` as left out', () => {
    expect([true, false].map((logprobs) => resolveOptions({ logprobs }, MODEL).sampling.logprobs)).toEqual([
      0,
      undefined,
    ]);
  });

  it.each([
    ['END', ['END']],
    [
      ['.', '\n'],
      ['.', '\n'],
    ],
    [[], []],
  ])('takes stop strings in place of those of the model: %o', (stop, expected) => {
    expect(resolveOptions({ stop }, MODEL).ending.stop).toEqual(expected);
  });

  it('takes undefined for left out', () => {
    expect(resolveOptions({ topK: undefined, seed: 1 }, MODEL).sampling.topK).toBe(40);
  });

  it.each([
    [0, 0],
    [7, 7],
    [2 ** 32 - 1, 2 ** 32 - 1],
    [2 ** 32, 0],
    [2 ** 40 + 9, 9],
    [-1, 2 ** 32 - 1],
    [-(2 ** 33) - 3, 2 ** 32 - 3],
    [Number.MIN_SAFE_INTEGER, 1],
  ])(
    'takes any integer that a number can hold as a seed, of which the last 32 bits count: %d',
    (seed, expected) => {
      expect(resolveOptions({ seed }, MODEL).sampling.seed).toBe(expected);
    },
  );

  it.each([512, 513, 100_000, Number.MAX_SAFE_INTEGER])(
    'cuts %d new tokens to the context',
    (maxNewTokens) => {
      expect(resolveOptions({ maxNewTokens }, MODEL).maxNewTokens).toBe(512);
    },
  );

  it.each([
    ['required', 'required'],
    [{ name: 'add' }, 'add'],
  ] as const)('quotes the choice of a tool that is not there: %o', (toolChoice, quoted) => {
    const message = `Expected \`toolChoice\` to be auto or none without tools, got \`${quoted}\``;
    expect(() => resolveOptions({ toolChoice }, MODEL, true)).toThrow(message);
    const tools = [{ name: 'add' }];
    const responseFormat = { type: 'json_object' };
    expect(() => resolveOptions({ toolChoice, tools, responseFormat }, MODEL, true)).toThrow(
      `which a call would contradict, got \`${quoted}\``,
    );
  });

  it('chooses a seed of 32 bits where none is given, another each time', () => {
    const seeds = Array.from({ length: 8 }, () => resolveOptions({}, MODEL).sampling.seed);
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 32)).toBe(true);
    expect(new Set(seeds).size).toBeGreaterThan(1);
  });
});

describe('timeoutMsOf', () => {
  it.each([
    [{ timeoutMs: 0.5, seed: 'bad' }, 0.5],
    [{}, undefined],
    [{ timeoutMs: 0 }, undefined],
    [{ timeoutMs: '5' }, undefined],
    [null, undefined],
  ])('finds what counts in %o, which is not checked yet', (options, expected) => {
    expect(timeoutMsOf(options)).toBe(expected);
  });
});

describe('rejects', () => {
  it.each([
    [{ maxNewTokens: -1 }, /`maxNewTokens` to be an integer >= 0, got `-1` \(number\)/],
    [{ promptLogprobs: 21 }, /`promptLogprobs` to be true, false or an integer >= 0 and <= 20/],
    [{ maxNewTokens: 1.5 }, /`maxNewTokens`/],
    [{ maxNewTokens: '8' }, /got `8` \(string\)/],
    [{ temperature: Infinity }, /`temperature` to be a finite number >= 0, got `Infinity` \(number\)/],
    [{ temperature: Number.NaN }, /`temperature`/],
    [{ temperature: -0.1 }, /`temperature`/],
    [{ topK: -1 }, /`topK`/],
    [{ topP: 0 }, /`topP`/],
    [{ topP: 1.01 }, /`topP`/],
    [{ minP: 1.1 }, /`minP`/],
    [{ repetitionPenalty: 0 }, /`repetitionPenalty` to be a finite number >= 0.01 and <= 100/],
    [{ presencePenalty: 2.1 }, /`presencePenalty`/],
    [{ frequencyPenalty: -2.1 }, /`frequencyPenalty`/],
    [{ logitBias: { 2048: 1 } }, /`logitBias` to be .* by token id below 2048, got `token id 2048`/],
    [{ logprobs: 21 }, /`logprobs` to be true, false or an integer >= 0 and <= 20/],
    [{ logprobs: 'true' }, /`logprobs`/],
    [
      { stop: '' },
      /`stop` to be a string of 1 to 256 characters, or a list of at most 16 .* `an empty string`/,
    ],
    [{ stop: ['.', ''] }, /got `an empty string`/],
    [{ stop: 'x'.repeat(257) }, /got `257 characters`/],
    [{ stop: Array.from({ length: 17 }, String) }, /got `17 strings`/],
    [{ stop: ['.', 7] }, /got `7` \(number\)/],
    [{ stop: null }, /got `null`/],
    [{ stop: '\u{1F600}'.slice(0, 1) }, /got `half a character`/],
    [
      { responseFormat: { type: 'regex', pattern: 'a\ud83d' } },
      /`responseFormat.pattern` to be a text, got `half a character`/,
    ],
    [
      { responseFormat: { type: 'json_schema', schema: { enum: ['\udc00'] } } },
      /`responseFormat.schema.enum\[0\]` to be a text, got `half/,
    ],
    [{ timeoutMs: 0 }, /`timeoutMs` to be a finite number > 0, got `0`/],
    [{ timeoutMs: Infinity }, /`timeoutMs`/],
    [{ n: 0 }, /`n` to be an integer >= 1 and <= 16/],
    [{ n: 17 }, /`n`/],
    [{ echo: 1 }, /`echo` to be true or false, got `1` \(number\)/],
    [{ priority: 0.5 }, /`priority` to be an integer >= -100 and <= 100/],
    [{ priority: 101 }, /`priority`/],
    [{ seed: 0.5 }, /`seed` to be an integer, got `0.5`/],
    [{ minTokens: 65 }, /`minTokens` to be an integer <= 64, got `65`/],
    [{ minTokens: -1 }, /`minTokens` to be an integer >= 0/],
    [{ ignoreEos: 1 }, /`ignoreEos` to be true or false/],
    [{ includeStopStrInOutput: 'yes' }, /`includeStopStrInOutput` to be true or false/],
    [{ stopTokenIds: 3 }, /`stopTokenIds` to be a list of at most 300 token ids, got `3`/],
    [{ stopTokenIds: Array.from({ length: 301 }, () => 1) }, /`stopTokenIds` to be a list of at most 300/],
    [{ stopTokenIds: [1, 2048] }, /`stopTokenIds\[1\]` to be an integer >= 0 and <= 2047/],
  ])('%o', (options, message) => {
    expect(() => resolveOptions(options, MODEL)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION', message: expect.stringMatching(message) }),
    );
  });

  it('an option that does not exist, naming the one that was meant', () => {
    expect(() => resolveOptions({ temprature: 1 }, MODEL)).toThrow(
      expect.objectContaining({
        code: 'UNKNOWN_OPTION',
        message: 'Unknown option `temprature`: the nearest of 27 is temperature.',
      }),
    );
  });

  it.each([[null], [[]], ['fast']])('%o instead of an options object', (options) => {
    expect(() => resolveOptions(options, MODEL)).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
  });
});

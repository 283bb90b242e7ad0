import { Ajv2020 } from 'ajv/dist/2020.js';

import type { ChatMessage } from '../src/protocol/chat.ts';
import type { GenerationOptions } from '../src/protocol/generation.ts';
import { randomSchema } from '../src/worker/testing/random-schemas.ts';
import { smollm2File } from '../tools/reference/gguf/smollm2.ts';
import { runSeed } from './support/seeded-random.ts';
import type { TextRequest } from './support/tab.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, IS_WHOLE, test } from './support/test.ts';

const PROMPT = 'Once upon a time,';
const ajv = new Ajv2020({ strict: false });

/** Texts that the model draws freely, with an end that a grammar decides. */
const HOT = { temperature: 1.5, maxNewTokens: 192 } satisfies GenerationOptions;

/** Schemas at once: more than slots, so that texts of random lengths come and go beside each other. */
const GROUP = 32;

test(
  'random schemas, in batches that texts join and leave, give JSON that ajv finds valid, and change no text beside them',
  {
    tag: ANY_BACKEND_IN_SHORT,
  },
  async ({ tab, backend }) => {
    // A software adapter takes seconds for each. The masks are the same; how the GPU applies them shows in few.
    const numSchemas = { wasm: IS_WHOLE ? 1000 : 24, webgpu: 64 }[backend];
    test.setTimeout(120_000 + numSchemas * 20_000);
    const firstSeed = runSeed();
    const free = Array.from({ length: 4 }, (_, seed) => ({
      prompt: PROMPT,
      options: { ...HOT, maxNewTokens: 24, seed },
    }));
    const alone = await tab.generateAll(free);
    let numEnded = 0;
    for (let first = 0; first < numSchemas; first += GROUP) {
      const seeds = Array.from(
        { length: Math.min(GROUP, numSchemas - first) },
        (_, i) => firstSeed + first + i,
      );
      const schemas = seeds.map((seed) => randomSchema(seed));
      const shaped = schemas.map((schema, index) => {
        const responseFormat = { type: 'json_schema', schema } as const;
        const maxNewTokens = { wasm: HOT.maxNewTokens, webgpu: 64 }[backend];
        return { prompt: PROMPT, options: { ...HOT, maxNewTokens, seed: seeds[index] ?? 0, responseFormat } };
      });
      const results = await tab.generateAll([...shaped.slice(0, 4), ...free, ...shaped.slice(4)]);
      const texts = results.map(({ text }) => text);
      expect(texts.slice(4, 8)).toEqual(alone.map(({ text }) => text));
      const answers = [...results.slice(0, 4), ...results.slice(8)];
      for (const [index, schema] of schemas.entries()) {
        const { generatedText = '', finishReason } = answers[index] ?? {};
        if (finishReason !== 'stop') continue;
        numEnded += 1;
        const validate = ajv.compile(typeof schema === 'boolean' ? schema : { ...schema });
        const told = `seed ${seeds[index]}: ${generatedText} ${JSON.stringify(schema)}`;
        expect(() => JSON.parse(generatedText), told).not.toThrow();
        expect(validate(JSON.parse(generatedText)), told).toBe(true);
      }
    }
    console.log(`    ${numEnded} of ${numSchemas} answers ended, from seed ${firstSeed}`);
    if (backend === 'wasm') expect(numEnded).toBeGreaterThan(numSchemas / 5);
  },
);

test(
  'a shape that can be refused is refused by its part, and its mates are answered',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const [refused, cut, other] = await tab.outcomesOf([
      {
        prompt: PROMPT,
        options: { responseFormat: { type: 'json_schema', schema: { type: 'number', not: { const: 2 } } } },
      },
      {
        prompt: PROMPT,
        options: { maxNewTokens: 4, responseFormat: { type: 'regex', pattern: '(ab){20}' }, logprobs: 0 },
      },
      { prompt: PROMPT, options: { maxNewTokens: 4 } },
    ]);
    expect(refused).toMatchObject({ code: 'RESPONSE_FORMAT_UNSUPPORTED' });
    expect(cut?.value).toMatchObject({
      finishReason: 'length',
      generatedText: expect.stringMatching(/^(?:ab)+a?$/),
    });
    expect(cut?.value?.logprobs).toHaveLength(4);
    expect(other?.code).toBeUndefined();
  },
);

test(
  'eight objects go on in the middle when the leader is closed, each as it would have ended',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const schema = {
      type: 'object',
      properties: {
        heroOfTheStory: { type: 'string', minLength: 300, maxLength: 400 },
        ageOfTheHero: { type: 'integer', minimum: 1, maximum: 99 },
        friendsOfTheHero: {
          type: 'array',
          items: { enum: ['cat', 'dog', 'bird'] },
          minItems: 2,
          maxItems: 4,
        },
      },
      required: ['heroOfTheStory', 'ageOfTheHero', 'friendsOfTheHero'],
    };
    const requests = Array.from({ length: 8 }, (_, seed) => ({
      prompt: PROMPT,
      options: { ...HOT, maxNewTokens: 400, seed, responseFormat: { type: 'json_schema', schema } as const },
    }));
    const [first] = await site.openPair();
    const undisturbed = await first.generateAll(requests);
    const [leader, follower] = [await site.leader(), ...(await site.followers())];
    if (!follower) throw new Error('One of two tabs follows');
    await site.endOnceStreamed(leader, follower, 8);
    await follower.begin(requests);
    const outcomes = await follower.outcomesOfBegun();
    expect(outcomes.map(({ value }) => value?.text)).toEqual(undisturbed.map(({ text }) => text));
    expect((await follower.updates()).map(({ type }) => type)).toContain('resubmitted');
    // Chromium loses a close in the middle of a navigation.
    await leader.page.waitForURL('about:blank');
    await site.close(leader);
    for (const { generatedText } of undisturbed)
      expect(ajv.compile(schema)(JSON.parse(generatedText)), generatedText).toBe(true);
  },
);

test(
  'choices with logprobs have their probabilities, which are those of the texts as the end of a prompt',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const choices = [' there was a little girl', ' a dragon', ' they'];
    const responseFormat = { type: 'choice', choices } as const;
    const result = await tab.generate(PROMPT, {
      temperature: 0,
      maxNewTokens: 16,
      logprobs: 0,
      responseFormat,
    });
    expect(choices).toContain(result.generatedText);
    const scored = await tab.generateAll(
      choices.map((choice) => ({ prompt: PROMPT + choice, options: { maxNewTokens: 0, promptLogprobs: 0 } })),
    );
    const { usage } = await tab.generate(PROMPT, { maxNewTokens: 0 });
    const odds = scored.map(({ promptLogprobs = [] }) =>
      Math.exp(
        promptLogprobs.slice(usage.numPromptTokens).reduce((sum, { logprob }) => sum + (logprob ?? 0), 0),
      ),
    );
    const total = odds.reduce((sum, each) => sum + each, 0);
    expect(result.choiceProbabilities).toHaveLength(3);
    for (const [index, probability] of (result.choiceProbabilities ?? []).entries())
      expect(probability).toBeCloseTo((odds[index] ?? 0) / total, 3);
    const own = (result.logprobs ?? []).reduce((sum, { logprob }) => sum + logprob, 0);
    expect(Math.exp(own) / (odds[choices.indexOf(result.generatedText)] ?? 0)).toBeCloseTo(1, 2);
  },
);

test(
  'the tokens of long keys take no steps of their own, and logprobs, for which they do, change no text',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const names = ['theNameOfTheHeroOfThisStory', 'theNameOfTheBestFriendOfTheHero', 'theColorOfTheHouse'];
    const schema = {
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { enum: ['red', 'blue', 'green'] }])),
      required: names,
    };
    const responseFormat = { type: 'json_schema', schema } as const;
    const options = {
      temperature: 0.9,
      seed: 3,
      maxNewTokens: 128,
      responseFormat,
    } satisfies GenerationOptions;
    const numSteps = async (): Promise<number> =>
      (await tab.steps('decode')).length + (await tab.steps('prefill')).length;
    await tab.forget();
    const jumped = await tab.generate(PROMPT, options);
    const numJumped = await numSteps();
    await tab.configure({ promptLookup: false });
    await tab.forget();
    const stepped = await tab.generate(PROMPT, { ...options, logprobs: 0 });
    const numStepped = await numSteps();
    console.log(`    ${jumped.tokenIds.length} tokens in ${numJumped} steps, ${numStepped} without jumps`);
    expect(stepped.tokenIds).toEqual(jumped.tokenIds);
    expect(numJumped).toBeLessThan(0.7 * numStepped);
  },
);

const NUM_REAL = 50;
const LABELS = ['sport', 'food', 'weather', 'music'];
const SENTENCES = [
  'The striker scored twice in the final.',
  'Add the onions and let the soup simmer.',
  'Rain is expected in the north tomorrow.',
  'The band plays its new song tonight.',
  'She ran the marathon in under three hours.',
];
const CITIES = ['Rome', 'Oslo', 'Lima', 'Cairo', 'Delhi', 'Seoul', 'Quito', 'Porto', 'Accra', 'Perth'];
const sentenceOf = (index: number): string =>
  `${CITIES[index % CITIES.length]}. ${SENTENCES[Math.floor(index / CITIES.length)]}`;
const RECORD = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 30 },
    age: { type: 'integer', minimum: 0, maximum: 120 },
    city: { type: 'string', maxLength: 30 },
  },
  required: ['name', 'age', 'city'],
};
const chat = (content: string): ChatMessage[] => [{ role: 'user', content }];
const NAMES = ['Ann', 'Bob', 'Cleo', 'Dan', 'Eve'];
const personOf = (index: number): string => {
  const [name, city] = [NAMES[index % NAMES.length], CITIES[index % CITIES.length]];
  const sentences = [
    `${name}, ${20 + index}, lives in ${city}.`,
    `In ${city} I met ${name}, who is ${20 + index}.`,
  ];
  return sentences[Math.floor(index / (NUM_REAL / 2))] ?? '';
};
const extract = (index: number, options: GenerationOptions): TextRequest => ({
  prompt: chat(`Write name, age and city as JSON. ${personOf(index)}`),
  options: { temperature: 0, maxNewTokens: 64, ...options },
});

test(
  `SmolLM2 puts ${NUM_REAL} sentences under four labels in one call each, and fills ${NUM_REAL} records`,
  { tag: ANY_BACKEND },
  async ({ ownTab }) => {
    test.skip(!IS_WHOLE, 'only the whole suite has the real model');
    test.setTimeout(3_600_000);
    await ownTab.open('?backend=wasm');
    await ownTab.ready();
    await ownTab.pickModel('or a GGUF file', await smollm2File());
    await expect
      .poll(async () => (await ownTab.status()).model?.id, { timeout: 300_000 })
      .toBe('SmolLM2-135M-Instruct.Q4_1');
    const timed = async (ask: (index: number) => TextRequest) => {
      const startedAtMs = performance.now();
      const results = await ownTab.generateAll(Array.from({ length: NUM_REAL }, (_, index) => ask(index)));
      return { results, seconds: (performance.now() - startedAtMs) / 1000 };
    };
    const choice = { type: 'choice', choices: LABELS } as const;
    const classified = await timed((index) => ({
      prompt: chat(`One word: is this about ${LABELS.join(', ')}? ${sentenceOf(index)}`),
      options: { temperature: 0, maxNewTokens: 8, logprobs: 0, responseFormat: choice },
    }));
    for (const { text, choiceProbabilities = [] } of classified.results) {
      expect(LABELS).toContain(text);
      expect(choiceProbabilities.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1, 6);
    }
    const responseFormat = { type: 'json_schema', schema: RECORD } as const;
    const filled = await timed((index) => extract(index, { responseFormat }));
    const isRecord = ajv.compile(RECORD);
    for (const { text } of filled.results) expect(isRecord(JSON.parse(text)), text).toBe(true);
    const free = await timed((index) => extract(index, {}));
    console.log(
      `    ${NUM_REAL} labels in ${classified.seconds.toFixed(1)} s, records in ${filled.seconds.toFixed(1)} s, free answers in ${free.seconds.toFixed(1)} s`,
    );
  },
);

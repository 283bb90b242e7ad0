import type { GenerationOptions, JsonSchema } from '../src/protocol/generation.ts';
import { CHAT_MODEL } from '../tools/hub-server/checkpoints/chat-checkpoint.ts';
import { loadModel, test } from './support/hub-test.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import { ANY_BACKEND, expect, IS_WHOLE } from './support/test.ts';
import type { Streamed, TextRequest } from './support/tab.ts';

const NUM_REQUESTS = IS_WHOLE ? 500 : 20;
/** Sent by two tabs at random moments. In the middle of each group, the tab that leads crashes. */
const NUM_IN_GROUP = IS_WHOLE ? 100 : 20;

/** Of the second, most tokens are forced, and of its text only those that a guess may have. */
const SHAPES: readonly JsonSchema[] = [
  { type: 'object', properties: { a: { type: 'array', items: { type: 'integer' }, maxItems: 9 } } },
  {
    type: 'array',
    items: {
      type: 'object',
      properties: { title: { type: 'string', pattern: '^[a-m]*$' }, isNew: { type: 'boolean' } },
      required: ['title', 'isNew'],
    },
    minItems: 3,
  },
];

test(
  `${NUM_REQUESTS} requests have the same texts with prompt lookup as without, through shapes, penalties, joins and hand-overs`,
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    test.setTimeout(IS_WHOLE ? 1_800_000 : 180_000);
    const random = seededRandom(runSeed());
    const requests = Array.from({ length: NUM_REQUESTS }, () => requestOf(random));
    await site.openReady(2);
    await loadModel(await site.leader(), CHAT_MODEL, { hub: hub.url });
    const [first] = await site.followers();
    if (!first) throw new Error('There is no follower.');
    await first.configure({ policy: 'off', promptLookup: false });
    const plain = await first.generateAll(requests);

    await first.configure({ policy: 'continuous', maxBatchSize: 2, promptLookup: true });
    let [numRight, numResubmitted] = [0, 0];
    for (let begin = 0; begin < NUM_REQUESTS; begin += NUM_IN_GROUP) {
      await site.open();
      const group = requests.slice(begin, begin + NUM_IN_GROUP);
      const [early, late] = [group.slice(0, NUM_IN_GROUP / 2), group.slice(NUM_IN_GROUP / 2)];
      const [follower] = await site.followers();
      if (!follower) throw new Error('There is no follower.');
      const leader = await site.leader();
      const numChunks = 1 + Math.floor(random() * 20);
      await site.endOnceStreamed(leader, follower, numChunks);
      await follower.begin(early);
      await follower.whenStreamed(numChunks);
      await follower.begin(late);
      // Chromium loses a close in the middle of a navigation.
      await leader.page.waitForURL('about:blank');
      await site.close(leader);
      const outcomes = await follower.outcomesOfBegun();
      expect(outcomes.map(textOf), `requests from ${begin} on`).toEqual(
        plain.slice(begin, begin + NUM_IN_GROUP).map((value) => textOf({ value })),
      );
      const types = (await follower.updates()).map(({ type }) => type);
      numResubmitted += types.filter((type) => type === 'resubmitted').length;
      const steps = await follower.steps('decode');
      numRight += steps.reduce((sum, { numRightGuesses }) => sum + numRightGuesses, 0);
      await follower.page.evaluate(() => delete window.begun);
      await follower.forget();
    }
    console.log(
      `    ${numRight} tokens were guessed rightly after ${numResubmitted} texts had lost their worker`,
    );
    expect(numRight).toBeGreaterThan(NUM_REQUESTS);
    expect(numResubmitted).toBeGreaterThan(0);
  },
);

/** A model of random weights goes round in circles the sooner, the colder it is. */
function requestOf(random: () => number): TextRequest {
  const one = <T>(...values: readonly T[]): T | undefined => values[Math.floor(random() * values.length)];
  const beginning = one(
    'user: hello\nassistant: ',
    'la la la la la la',
    'abc abc abc abd abc abc',
    'once upon',
  );
  const options: GenerationOptions = {
    maxNewTokens: 40 + Math.floor(random() * 120),
    seed: Math.floor(random() * 2 ** 31),
    temperature: one(0, 0, 0.2, 0.6) ?? 0,
    topP: one(1, 0.9) ?? 1,
    presencePenalty: one(0, 0, 0.5) ?? 0,
    frequencyPenalty: one(0, 0, 0.2) ?? 0,
    repetitionPenalty: one(1, 1, 1.1) ?? 1,
    ...(random() < 0.3 && { logprobs: 2 }),
    ...(random() < 0.2 && { stop: one('e', 'aa', ' x') ?? '' }),
    ...(random() < 0.4
      ? { responseFormat: { type: 'json_schema', schema: one(...SHAPES) ?? true } as const }
      : { ignoreEos: random() < 0.5 }),
  };
  return { prompt: `${beginning} ${Math.floor(random() * 9)} `, options };
}

/** All of an answer that doesn't hang on time. */
function textOf({ value, code }: Pick<Streamed, 'value' | 'code'>): unknown {
  return value ? { choices: value.choices, numTokens: value.usage.numOutputTokens } : code;
}

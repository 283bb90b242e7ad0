import type { ResponseFormat } from '../src/protocol/generation.ts';
import { HOSTILE_SHAPES } from '../src/worker/testing/hostile-shapes.ts';
import { randomShape } from '../src/worker/testing/random-shapes.ts';
import { collectedHeaps } from './support/collected-heaps.ts';
import { runSeed } from './support/seeded-random.ts';
import type { Outcome, Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';

declare global {
  interface Window {
    /** Set by a test to end the texts of `streamTexts`. */
    isOver?: boolean;
    /** Of the texts of `streamTexts`. */
    numChunks?: number;
    /** The longest pause between two chunks of a text, ms, and the texts. */
    streamed?: Promise<{ readonly longestPauseMs: number; readonly texts: readonly string[] }>;
  }
}

const PROMPT = 'Once upon a time,';
/** Shapes at once: several times as many as slots. */
const GROUP = IS_WHOLE ? 200 : 80;
const NUM_GROUPS = IS_WHOLE ? 50 : 2;
const NUM_HOSTILE = 20;
/** Bytes that the heap of the worker may grow by after the first group: what the compiler of shapes keeps until it begins anew. */
const MAX_KEPT = 250e6;

const REFUSALS = ['RESPONSE_FORMAT_UNSUPPORTED', 'INVALID_OPTION'];

test(
  `${GROUP * NUM_GROUPS} random shapes, hostile ones among them: none is refused for another, memory is flat, and the text of another tab goes on`,
  { tag: ANY_BACKEND },
  async ({ site }) => {
    test.setTimeout(240_000 + NUM_GROUPS * 60_000);
    const firstSeed = runSeed();
    const [first] = await site.openPair();
    const leader = await site.leader();
    const reader = first === leader ? site.tabs.find((tab) => tab !== leader) : first;
    if (!reader) throw new Error('One of two tabs follows');
    await streamTexts(reader);
    const hostile = Object.keys(HOSTILE_SHAPES);
    const heaps: number[] = [];
    let numFollowed = 0;
    for (let group = 0; group < NUM_GROUPS; group += 1) {
      const shapes = new Map<string, ResponseFormat>();
      for (let index = NUM_HOSTILE; index < GROUP; index += 1) {
        const seed = firstSeed + group * GROUP + index;
        shapes.set(`seed ${seed}`, randomShape(seed));
      }
      for (let index = 0; index < NUM_HOSTILE; index += 1) {
        const name = hostile[(group * NUM_HOSTILE + index) % hostile.length] ?? '';
        shapes.set(name, HOSTILE_SHAPES[name]?.() ?? { type: 'json_object' });
      }
      const numBefore = await numChunksOf(reader);
      const outcomes = await outcomesOf(leader, shapes);
      expect(await numChunksOf(reader), 'chunks of the other tab').toBeGreaterThan(numBefore);
      for (const [name, { code, message }] of outcomes) {
        const isHostile = hostile.includes(name);
        if (code === undefined && !isHostile) numFollowed += 1;
        const told = `${name}: ${message} ${JSON.stringify(shapes.get(name)).slice(0, 300)}`;
        if (isHostile) expect.soft([undefined, ...REFUSALS], told).toContain(code);
        else expect.soft(code, told).toBeUndefined();
      }
      const { workers } = await collectedHeaps(leader.page);
      heaps.push(workers);
    }
    const { longestPauseMs, texts } = await endTexts(reader);
    const megabytes = heaps.map((bytes) => (bytes / 1e6).toFixed(1));
    console.log(
      `    ${numFollowed} shapes followed, ${texts.length} texts beside them, longest pause ${longestPauseMs.toFixed(0)} ms, worker's heap ${megabytes.join(', ')} MB`,
    );
    expect(texts.length).toBeGreaterThan(0);
    expect(new Set(texts).size, 'different texts of one prompt').toBe(1);
    expect(Math.max(...heaps) - (heaps[0] ?? 0), 'bytes that shapes keep').toBeLessThan(MAX_KEPT);
    const half = Math.ceil(heaps.length / 2);
    if (IS_WHOLE)
      expect(Math.max(...heaps.slice(half))).toBeLessThan(1.2 * Math.max(...heaps.slice(0, half)));
  },
);

/** How requests of these shapes end, sent together. As JSON, since Playwright's own form has no deep values. */
async function outcomesOf(
  tab: Tab,
  shapes: ReadonlyMap<string, ResponseFormat>,
): Promise<readonly (readonly [name: string, Outcome<unknown>])[]> {
  const outcomes = await tab.page.evaluate(
    async ({ json, prompt }) => {
      const formats: readonly ResponseFormat[] = JSON.parse(json);
      const generator = window.tabserve.getHandle('text-generator');
      const responses = formats.map((responseFormat, seed) =>
        generator.remote(prompt, { responseFormat, seed, maxNewTokens: 6 }),
      );
      return Promise.all(
        responses.map((response) =>
          response.result().then(
            ({ text }) => ({ value: text }),
            ({ code, message }: { code: string; message: string }) => ({ code, message }),
          ),
        ),
      );
    },
    { json: JSON.stringify([...shapes.values()]), prompt: PROMPT },
  );
  return [...shapes.keys()].map((name, index) => [
    name,
    outcomes[index] ?? { code: 'none', message: 'no outcome' },
  ]);
}

/** Streams one text after another in this tab. */
function streamTexts(tab: Tab): Promise<void> {
  return tab.page.evaluate((prompt) => {
    const generator = window.tabserve.getHandle('text-generator');
    const stream = async () => {
      const texts: string[] = [];
      let longestPauseMs = 0;
      while (window.isOver !== true) {
        let [text, lastMs] = ['', Infinity];
        for await (const chunk of generator.remote(prompt, {
          temperature: 0,
          maxNewTokens: 300,
          ignoreEos: true,
        })) {
          longestPauseMs = Math.max(longestPauseMs, performance.now() - lastMs);
          lastMs = performance.now();
          text += chunk.text;
          window.numChunks = (window.numChunks ?? 0) + 1;
        }
        texts.push(text);
      }
      return { longestPauseMs, texts };
    };
    window.streamed = stream();
  }, PROMPT);
}

function numChunksOf(tab: Tab): Promise<number> {
  return tab.page.evaluate(() => window.numChunks ?? 0);
}

async function endTexts(tab: Tab) {
  const streamed = await tab.page.evaluate(() => {
    window.isOver = true;
    return window.streamed;
  });
  if (!streamed) throw new Error('No texts were begun.');
  return streamed;
}

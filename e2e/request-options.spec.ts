import type { GenerationChunk } from '../src/client/responses.ts';
import type { GenerationOptions } from '../src/protocol/generation.ts';
import { openAdvanced } from './support/tab.ts';
import { ANY_BACKEND, ANY_BACKEND_IN_SHORT, expect, test } from './support/test.ts';

const PROMPT = 'Once upon a time,';
const END_TOKEN = 2047;

/** All that was streamed of one continuation. */
function textOf(chunks: readonly GenerationChunk[], index = 0): string {
  return chunks.flatMap((chunk) => (chunk.index === index ? [chunk.text] : [])).join('');
}

test(
  'a text ends before a stop string that lies across tokens, and no chunk shows any of it',
  { tag: ANY_BACKEND_IN_SHORT },
  async ({ tab }) => {
    const greedy: GenerationOptions = { temperature: 0, maxNewTokens: 16 };
    const whole = await tab.readStream(PROMPT, greedy);
    const [before = '', after = ''] = whole.chunks.slice(7, 9).map(({ text }) => text);
    const stop = before.slice(-2) + after.slice(0, 2);
    const { chunks, result } = await tab.readStream(PROMPT, { ...greedy, stop: ['\n\n', stop] });
    const expected = whole.result.generatedText.split(stop)[0];
    expect(result.generatedText).toBe(expected);
    expect(textOf(chunks)).toBe(expected);
    expect(result.finishReason).toBe('stop');
    expect(result.tokenIds).toEqual(whole.result.tokenIds.slice(0, result.tokenIds.length));
    expect(result.usage.numOutputTokens).toBe(result.tokenIds.length);
    expect(result.usage.numOutputTokens, 'it stopped at once').toBeLessThan(10);
  },
);

test(
  'n continuations run in one batch, and each is what its seed yields alone',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const options: GenerationOptions = { temperature: 1, topK: 0, seed: 7, maxNewTokens: 8 };
    const { chunks, result } = await tab.readStream(PROMPT, { ...options, n: 3 });
    const steps = await tab.steps('decode');
    expect(Math.max(...steps.map(({ batchSize }) => batchSize))).toBe(3);
    expect(result.choices).toHaveLength(3);
    expect(result).toMatchObject({ ...result.choices[0], seed: 7 });
    expect(result.choices.map((_, index) => textOf(chunks, index))).toEqual(
      result.choices.map(({ generatedText }) => generatedText),
    );
    expect(chunks.flatMap(({ finishReason }) => finishReason ?? [])).toHaveLength(3);
    const alone = await tab.generateAll(
      result.choices.map(({ seed }) => ({ prompt: PROMPT, options: { ...options, seed } })),
    );
    expect(alone.map(({ choices: [only] }) => only)).toEqual(result.choices);
  },
);

test(
  'an echo makes the stream the whole text, without tokens or logprobs for the prompt',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { chunks, result } = await tab.readStream(PROMPT, { echo: true, logprobs: 1, maxNewTokens: 4 });
    expect(chunks[0]).toEqual({ index: 0, text: PROMPT, tokenIds: [] });
    expect(textOf(chunks)).toBe(result.text);
    expect(chunks.flatMap(({ tokenIds }) => tokenIds)).toEqual(result.tokenIds);
    expect(result.logprobs).toHaveLength(result.tokenIds.length);
  },
);

test(
  'a request out of time fails, whether it runs or waits, and leaves its slot to others',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    // Long enough for a first token, too short for the last.
    const timeoutMs = 150;
    const endless: GenerationOptions = { maxNewTokens: 500, logitBias: { [END_TOKEN]: -100 } };
    await tab.configure({ maxBatchSize: 1 });
    const [running, waiting, patient] = await tab.outcomesOf([
      { prompt: PROMPT, options: { ...endless, timeoutMs } },
      { prompt: PROMPT, options: { ...endless, timeoutMs: timeoutMs / 2 } },
      { prompt: PROMPT, options: { maxNewTokens: 2 } },
    ]);
    expect(running).toMatchObject({
      code: 'REQUEST_TIMEOUT',
      message: expect.stringContaining(`${timeoutMs} ms`),
    });
    expect(waiting).toMatchObject({ code: 'REQUEST_TIMEOUT' });
    expect(patient?.value?.usage.numOutputTokens).toBe(2);
    const lives = Map.groupBy(await tab.updates(), ({ requestId }) => requestId);
    const [first = [], second = []] = lives.values();
    const typesOf = (life: typeof first) => new Set(life.map(({ type }) => type));
    expect(typesOf(first)).toEqual(new Set(['submitted', 'accepted', 'started', 'chunk', 'failed']));
    expect(typesOf(second)).toEqual(new Set(['submitted', 'accepted', 'failed']));
  },
);

test(
  'of the requests that wait the lowest priority starts first, and what runs is not interrupted',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    await tab.configure({ policy: 'off' });
    // It runs until the others are there.
    const firstTokens = 200;
    const endless = { temperature: 0, logitBias: { [END_TOKEN]: -100 } };
    const first = tab.generate(PROMPT, { maxNewTokens: firstTokens, ...endless });
    await expect.poll(async () => (await tab.updates()).map(({ type }) => type)).toContain('started');
    const others = await tab.generateAll(
      [5, 0, -5, 5].map((priority) => ({
        prompt: PROMPT,
        options: { priority, maxNewTokens: 2, ...endless },
      })),
    );
    const results = [await first, ...others];
    expect(new Set(results.map(({ finishReason }) => finishReason))).toEqual(new Set(['length']));
    const updates = await tab.updates();
    const idsOf = (wanted: string) =>
      updates.filter(({ type }) => type === wanted).map(({ requestId }) => requestId);
    const submitted = idsOf('submitted');
    expect(idsOf('started').map((id) => submitted.indexOf(id))).toEqual([0, 3, 2, 1, 4]);
    expect(idsOf('finished')).toEqual(idsOf('started'));
  },
);

test(
  'the page sends what its form says, and shows each continuation up to the stop string',
  { tag: ANY_BACKEND },
  async ({ tab }) => {
    const { page } = tab;
    const fields = { 'Max new tokens': '12', Temperature: '1', Seed: '7', Continuations: '2', Stop: 'e' };
    await openAdvanced(tab.page);
    for (const [name, value] of Object.entries(fields)) await page.getByRole('textbox', { name }).fill(value);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    const row = page.locator('[data-request-id][data-status=finished]');
    await expect(row).toHaveCount(1);
    const texts = await row.getByTestId('request-text').locator('mark').allTextContents();
    expect(texts).toHaveLength(2);
    expect(texts.join('')).not.toContain('e');
    await expect(row).toContainText('2 texts');
    for (const name of Object.keys(fields)) await page.getByRole('textbox', { name }).fill('');
  },
);

import { expect, expectIdle, startBridge, test, type ServedBridge } from './support/bridge-test.ts';
import { SAMPLE_PROMPTS } from '../src/ui/state/composer/sample-prompts.ts';
import { curl } from './support/curl.ts';
import { Site } from './support/site.ts';
import { openTab } from './support/tab.ts';
import { ANY_BACKEND } from './support/test.ts';

/** More than run at once: the last ones have hardly begun when a browser has closed. */
const NUM_STREAMS = 24;
const NUM_RUNNING = 8;

/** Tokens of a stream: long enough for a loss in the middle of it. */
const MAX_TOKENS = 400;

/** The embedded model's end token. Suppressing it makes each stream run to its limit. */
const END_TOKEN = 2047;

/** The data of a stream's event. */
interface Chunk {
  readonly choices: readonly { readonly text: string; readonly finish_reason: string | null }[];
  readonly error?: unknown;
}

/** One completion as a client reads it. */
class Stream {
  text = '';
  numChunks = 0;
  end: string | null = null;
  readonly done: Promise<void>;

  constructor({ url }: ServedBridge, index: number) {
    this.done = this.#read(url, index);
  }

  async #read(url: string, index: number): Promise<void> {
    const response = await fetch(`${url}/v1/completions`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        prompt: SAMPLE_PROMPTS[index % SAMPLE_PROMPTS.length],
        max_tokens: MAX_TOKENS,
        temperature: 0.9,
        seed: index,
        logit_bias: { [END_TOKEN]: -100 },
        stream: true,
      }),
    });
    expect(response.status).toBe(200);
    const events = response.body?.pipeThrough(new TextDecoderStream());
    let rest = '';
    for await (const part of events ?? []) {
      const lines = (rest + part).split('\n\n');
      rest = lines.pop() ?? '';
      for (const line of lines) this.#take(line.replace('data: ', ''));
    }
  }

  #take(data: string): void {
    if (data === '[DONE]') return;
    const { choices, error }: Chunk = JSON.parse(data);
    if (error) throw new Error(data);
    this.numChunks += 1;
    for (const { text, finish_reason: reason } of choices) {
      this.text += text;
      this.end = reason;
    }
  }
}

function startStreams(bridge: ServedBridge): Stream[] {
  return Array.from({ length: NUM_STREAMS }, (_, index) => new Stream(bridge, index));
}

async function finish(streams: readonly Stream[]): Promise<string[]> {
  await Promise.all(streams.map(({ done }) => done));
  expect(streams.map(({ end }) => end)).toEqual(streams.map(() => 'length'));
  return streams.map(({ text }) => text);
}

/** In the middle of those that run at once, or as near as may be. */
async function whenUnderWay(streams: readonly Stream[]): Promise<void> {
  await expect
    .poll(() => streams.filter(({ numChunks }) => numChunks > 3).length, { intervals: [5] })
    .toBeGreaterThanOrEqual(NUM_RUNNING);
}

/** Expects streams to end as if nothing had happened, though `lose` closes the tab that serves in their middle. */
async function expectToGoOn(
  bridge: ServedBridge,
  undisturbed: readonly string[],
  lose: () => Promise<void>,
): Promise<void> {
  const streams = startStreams(bridge);
  await whenUnderWay(streams);
  await lose();
  const atTheLoss = streams.map(({ text }) => text);
  expect(await finish(streams)).toEqual(undisturbed);
  expect(atTheLoss).not.toEqual(undisturbed);
}

test(
  'streams that run and streams that wait go on where they were in the next tab, then in one of another browser, which also serves a bridge that is started again',
  { tag: ANY_BACKEND },
  async ({ browser, backend }) => {
    const bridge = await startBridge();
    const site = new Site(await browser.newContext({ baseURL: bridge.url }), backend);
    await site.openReady(2);
    await expect.poll(() => fetch(`${bridge.url}/healthz`).then(({ status }) => status)).toBe(200);
    const other = await browser.newContext({ baseURL: bridge.url });
    const standby = await openTab(other, backend);
    const undisturbed = await finish(startStreams(bridge));

    await test.step('the tab that serves is closed', async () => {
      // Found before: the streams end within a second.
      const leader = await site.leader();
      await expectToGoOn(bridge, undisturbed, () => site.close(leader));
      const [left] = site.tabs;
      expect(left?.errors).toEqual([]);
      if (left) await expectIdle(left);
    });
    await test.step('its browser is closed', () =>
      expectToGoOn(bridge, undisturbed, () => site.context.close()));
    await bridge.close();
    const again = await startBridge({ port: bridge.port });
    // In a process of its own: this one's `fetch` keeps connections to the bridge that is gone.
    expect(await curl(`${again.url}/adder?number=3`)).toEqual({ status: 200, body: '4\n' });
    expect((await standby.status()).role).toBe('leader');
    await other.close();
    await again.close();
  },
);

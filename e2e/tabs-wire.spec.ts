import { PROTOCOL_VERSION } from '../src/protocol/wire.ts';
import { shareSite } from './support/shared-site.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

async function metricLines(tab: Tab): Promise<string[]> {
  return (await tab.page.evaluate(() => window.tabserve.metrics())).split('\n');
}

/** All metrics except the text generator's, which also count refused requests. */
async function deploymentMetrics(tab: Tab): Promise<string[]> {
  return (await metricLines(tab)).filter((line) => !line.includes('vllm:'));
}

/** How many requests of the text generator have ended, for each way to end. */
async function endedRequests(tab: Tab): Promise<string[]> {
  const lines = await metricLines(tab);
  return lines.flatMap((line) =>
    line.startsWith('vllm:request_success_total{') ? [line.split(' ')[1] ?? ''] : [],
  );
}

const idOf = (digit: number): string => `${digit}0000000-0000-4000-8000-000000000000`;
const fromTab = { version: PROTOCOL_VERSION, clientId: idOf(0) };
const fromWorker = { version: PROTOCOL_VERSION, workerId: idOf(1) };
const [requestId, callId] = [idOf(2), 1];
const failure = { code: 'NO', message: 'no' };

/** Required fields of messages. A message is malformed if one is missing or has another type; the parser's unit tests have them all. */
const VALID: readonly Readonly<Record<string, unknown>>[] = [
  { ...fromTab, type: 'hello' },
  { ...fromTab, type: 'submit', requestId, deployment: 'adder', input: 1, options: {}, elapsedMs: 0 },
  { ...fromTab, type: 'cancel', requestId },
  { ...fromTab, type: 'configure', callId, deployment: 'adder', knobs: { maxBatchSize: 1 } },
  { ...fromTab, type: 'release-override', callId, overrideId: 'o' },
  { ...fromWorker, type: 'serving' },
  { ...fromWorker, type: 'status', status: {} },
  { ...fromWorker, type: 'updates', updates: [{ type: 'failed', requestId, error: failure }] },
  { ...fromWorker, type: 'call-refused', callId, error: failure },
];

/** Fields that the parser doesn't check. They are checked later. */
const UNCHECKED = ['input', 'options', 'knobs'];

const JUNK: readonly unknown[] = [
  null,
  undefined,
  true,
  -1,
  0.5,
  Number.NaN,
  Infinity,
  '',
  'x'.repeat(10_000),
  [],
  [[]],
  {},
  { type: 'submit' },
  2n ** 64n,
  new Date(0),
  new Map([['type', 'hello']]),
];

/** Messages that the parser must refuse: no message at all, or one that is broken in one field. */
function malformedMessages(): readonly unknown[] {
  const broken = VALID.flatMap((message) => {
    const fields = Object.keys(message).filter((field) => !UNCHECKED.includes(field));
    // A deployment may have any name that is not too long.
    return fields.flatMap((field) =>
      JUNK.map((junk) => ({ ...message, [field]: field === 'deployment' && junk === '' ? 7 : junk })),
    );
  });
  return [...JUNK, ...broken];
}

test.describe('between tabs', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();

  test('malformed messages throw in no tab, and none reaches a deployment', async () => {
    const site = await openTabs(2);
    const [first, second] = site.tabs;
    if (!first || !second) throw new Error('There are two tabs.');
    const [before, [numEnded]] = [await deploymentMetrics(first), await endedRequests(first)];
    const messages = malformedMessages();
    const stranger = await site.context.newPage();
    await stranger.goto('/models/storyteller/config.json');
    await stranger.evaluate(async (data) => {
      const held = (await navigator.locks.query()).held ?? [];
      // To everybody on the shared channel, and into each tab's own.
      const names = ['tabserve', ...held.flatMap(({ name }) => (name?.includes('client') ? [name] : []))];
      const channels = names.map((name) => new BroadcastChannel(name));
      for (const [index, message] of data.entries()) channels[index % channels.length]?.postMessage(message);
      // A channel delivers in order: once a later request is answered, these messages have arrived.
      for (const channel of channels) channel.close();
    }, messages);

    // A follower's request comes over the channel.
    for (const tab of [...(await site.followers()), await site.leader()]) {
      expect((await tab.generate('Once', { maxNewTokens: 2 })).usage.numOutputTokens).toBe(2);
      expect((await tab.status()).state).toBe('ready');
    }
    expect(await deploymentMetrics(first)).toEqual(before);
    expect(await endedRequests(first), 'the two sound requests').toEqual([String(Number(numEnded ?? 0) + 2)]);
    const { numTabs } = await first.status();
    expect(numTabs, 'tabs, none of which is a stranger').toBe(2);
    expect(site.numWorkers).toBe(1);
    await stranger.close();
  });

  test('a request whose message is replayed runs once', async () => {
    // The leader's messages go over its worker's port.
    const [tab] = await (await openTabs(2)).followers();
    await tab?.page.evaluate(() => {
      window.heard = [];
      new BroadcastChannel('tabserve').addEventListener(
        'message',
        ({ data }: MessageEvent<{ type: string }>) => {
          if (data.type === 'submit') window.heard?.push(data);
        },
      );
    });
    const answer = await tab?.page.evaluate(() => window.tabserve.getHandle('adder').remote(1).result());
    await tab?.page.waitForFunction(() => window.heard?.length === 1);
    const sizes = await tab?.page.evaluate(async () => {
      const channel = new BroadcastChannel('tabserve');
      for (const message of window.heard ?? []) channel.postMessage(message);
      // Behind the replayed message in the same queue.
      await window.tabserve.getHandle('adder').remote(2).result();
      return window.tabserve.batches('adder').map(({ batchSize }) => batchSize);
    });
    expect([answer, sizes]).toEqual([2, [1, 1]]);
  });

  test('a prompt of ten million characters is refused before it is tokenized', async () => {
    const [tab] = (await openTabs(2)).tabs;
    const code = await tab?.page.evaluate(() =>
      window.tabserve
        .getHandle('text-generator')
        .remote('word '.repeat(2_000_000))
        .result()
        .catch((error: Error & { code: string }) => error.code),
    );
    expect(code).toBe('PROMPT_TOO_LONG');
  });

  test('workers of other versions that are claimed, but hold no lock, take no answer from any tab', async () => {
    const site = await openTabs(2);
    const { tabs } = site;
    const [tab] = tabs;
    await tab?.keepCompany(900);
    const stranger = await site.context.newPage();
    await stranger.goto('/models/storyteller/config.json');
    await stranger.evaluate((version) => {
      const channel = new BroadcastChannel('tabserve');
      for (const claimed of [version + 1, version + 1e6, version - 1])
        channel.postMessage({ version: claimed, workerId: 'new', type: 'serving' });
    }, PROTOCOL_VERSION);
    await tab?.cancelBegun(1);
    const [begun] = (await tab?.outcomesOfBegun()) ?? [];
    expect(begun?.code).toBeUndefined();
    for (const each of tabs) {
      expect((await each.generate('Once', { maxNewTokens: 2 })).usage.numOutputTokens).toBe(2);
      expect((await each.status()).state).toBe('ready');
    }
    expect(site.numWorkers).toBe(1);
    await stranger.close();
  });

  test('a tab of an older version is told to reload, and a newer one to wait for the others', async () => {
    const site = await openTabs(1);
    const [tab] = site.tabs;
    const stranger = await site.context.newPage();
    await stranger.goto('/models/storyteller/config.json');
    // The message that a tab of another version would receive on opening.
    const heard = await stranger.evaluate(async () => {
      const channel = new BroadcastChannel('tabserve');
      const answer = new Promise<unknown>((resolve) => {
        channel.addEventListener('message', ({ data }) => resolve(data), { once: true });
      });
      channel.postMessage({ version: 1, clientId: 'old', type: 'hello' });
      return answer;
    });
    expect(heard).toMatchObject({ type: 'serving', version: PROTOCOL_VERSION });
    expect((await tab?.status())?.numTabs, 'it is not served').toBe(1);

    // And what this one makes of a worker of another version.
    await tab?.keepCompany(900);
    await stranger.evaluate(async (version) => {
      await new Promise<void>((resolve) => {
        void navigator.locks.request(`tabserve:version:${version}`, () => {
          resolve();
          return new Promise(() => {});
        });
      });
      new BroadcastChannel('tabserve').postMessage({ version, workerId: 'newer', type: 'serving' });
    }, PROTOCOL_VERSION + 1);
    const [outcome] = (await tab?.outcomesOfBegun()) ?? [];
    expect(outcome?.code).toBe('VERSION_MISMATCH');
    await expect(tab?.page.locator('.failure') ?? stranger.locator('body')).toContainText(/reload this tab/);
    expect(tab?.errors.splice(0), 'what the console says, once').toEqual([
      expect.stringContaining('VERSION_MISMATCH'),
    ]);
    await stranger.close();
    if (tab) await site.close(tab);
  });
});

declare global {
  interface Window {
    heard?: unknown[];
  }
}

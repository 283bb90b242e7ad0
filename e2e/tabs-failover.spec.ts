import { reference } from './support/reference.ts';
import { sampledRequests } from './support/sampled-requests.ts';
import { someOf } from './support/seeded-random.ts';
import { shareSite } from './support/shared-site.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Streamed, Tab, TextRequest } from './support/tab.ts';

/** Ways to lose a leader. Each resolves with a function that brings it back, if it can come back. */
const LOSSES: Readonly<Record<string, (site: Site, leader: Tab) => Promise<void | (() => Promise<void>)>>> = {
  closed: (site, leader) => site.close(leader),
  crashed: (site, leader) => site.crash(leader),
  frozen: (site, leader) => site.freeze(leader),
};

/** The short run has one moment for a loss, in addition to the twelve requests, which go through all of them. */
const IN_SHORT: Readonly<Record<string, string>> = { crashed: 'prompt', frozen: 'load' };

const lossesAt = (moment: string) =>
  Object.entries(LOSSES).filter(([fate]) => IS_WHOLE || IN_SHORT[fate] === moment);

test.describe('a leader that is lost', { tag: ANY_BACKEND }, () => {
  const openTabs = shareSite();

  test('closed, crashed or frozen, is followed by a tab in which twelve requests end as if nothing had happened', async () => {
    const requests = [0, 1, 2].flatMap((round) => sampledRequests(4, round, 24));
    const undisturbed = await undisturbedResults((await openTabs(3)).tabs[0], requests);
    for (const [fate, lose] of someOf(Object.entries(LOSSES), 2)) {
      await test.step(fate, async () => {
        const site = await openTabs(3);
        const [leader, followers] = [await site.leader(), await site.followers()];
        // Eight run and four wait.
        const parts = [requests.slice(0, 6), requests.slice(6)];
        await Promise.all(followers.map((tab, index) => tab.begin(parts[index] ?? [])));
        await Promise.all(followers.map((tab) => tab.whenStreamed(4)));
        const thaw = await lose(site, leader);

        const outcomes = (await Promise.all(followers.map((tab) => tab.outcomesOfBegun()))).flat();
        expect(outcomes.map(textOf)).toEqual(undisturbed.map(({ text }) => text));
        expectNothingLostOrDoubled(outcomes);
        await site.leader();
        if (thaw) {
          await thaw();
          await site.leader();
        }
        // Playwright hears of a worker later than the tab does.
        await expect.poll(() => site.numWorkers).toBe(1);
        if (thaw) await site.close(leader);
      });
    }
  });

  for (const [fate, lose] of lossesAt('load')) {
    test(`${fate} while it loads, leaves the model to the next tab`, async ({ site }) => {
      const { release } = await holdWeights(site);
      const first = await site.open();
      await expect.poll(async () => (await first.status()).role).toBe('leader');
      const second = await site.open();
      await second.begin(sampledRequests(2, 0, 4));
      await lose(site, first);
      release();
      expect((await second.outcomesOfBegun()).map(({ code }) => code ?? 'answered')).toEqual([
        'answered',
        'answered',
      ]);
    });
  }

  for (const [fate, lose] of lossesAt('prompt')) {
    test(`${fate} in the middle of a prompt, loses nothing of it`, async () => {
      const site = await openTabs(2);
      const [follower] = await site.followers();
      if (!follower) throw new Error('There is no follower.');
      const request = { prompt: reference.longPrompt.prompt, options: { temperature: 0, maxNewTokens: 3 } };
      const [undisturbed] = await undisturbedResults(follower, [request]);
      await follower.forget();
      // So that the prompt takes a step for each token, though it was there before.
      await follower.configure({ maxBatchedTokens: 1, prefixCaching: false });
      // These are still being written when the first one is over.
      const long = { prompt: 'Once upon a time,', options: { maxNewTokens: 900, ignoreEos: true } };
      await follower.begin([request, ...Array.from({ length: 8 }, () => long)]);
      await follower.page.waitForFunction(() => window.recorder.steps.some(({ kind }) => kind === 'prefill'));
      await lose(site, await site.leader());
      const outcomes = await follower.outcomesOfBegun();
      expect(outcomes.map(textOf)[0]).toBe(undisturbed?.text);
      expectNothingLostOrDoubled(outcomes);
      expect((await follower.status()).policy.maxBatchedTokens, 'a knob that was turned').toBe(1);
      await expect(follower.page.getByRole('complementary', { name: 'Handover' })).toContainText(
        /^Tab \d, which ran the model, was closed or stopped .* ago\. [89] texts went on here; no token was lost\./,
      );
    });
  }

  for (const [fate, lose] of lossesAt('idle')) {
    test(`${fate} while nothing runs, is followed by a tab that serves`, async () => {
      const site = await openTabs(2);
      await lose(site, await site.leader());
      const [follower] = site.tabs;
      expect((await follower?.generate('Once', { maxNewTokens: 2 }))?.usage.numOutputTokens).toBe(2);
    });
  }

  test('a leader whose page hangs serves the other tabs all the same', async () => {
    const site = await openTabs(2);
    const [follower] = await site.followers();
    const leader = await site.leader();
    const release = await site.hang(leader);
    expect((await follower?.generate('Once', { maxNewTokens: 2 }))?.usage.numOutputTokens).toBe(2);
    await release();
    expect((await leader.status()).role).toBe('leader');
  });

  test('requests of the adder and the house-price model, and knobs, survive the loss of the leader', async () => {
    const site = await openTabs(2);
    const [follower] = await site.followers();
    if (!follower) throw new Error('There is no follower.');
    await follower.page.evaluate(() => window.tabserve.configure('adder', { maxBatchSize: 3 }));
    await follower.configure({ maxBatchSize: 5 });
    const answers = follower.page.evaluate(async () => {
      const adder = window.tabserve.getHandle('adder');
      const houses = window.tabserve.getHandle<readonly number[], number>('house-price');
      window.sent = [
        ...Array.from({ length: 9 }, (_, index) => adder.remote(index)),
        houses.remote([120, 3, 2, 10, 5, 300, 1, 2]),
      ];
      return (await Promise.allSettled(window.sent)).map((outcome) =>
        outcome.status === 'fulfilled' ? typeof outcome.value : String(outcome.reason),
      );
    });
    await follower.page.waitForFunction(() => window.sent);
    await site.close(await site.leader());
    expect((await answers).slice(0, 9)).toEqual(Array.from({ length: 9 }, () => 'number'));
    const status = await follower.ready();
    expect(status.policy.maxBatchSize).toBe(5);
    expect(status.deployments.find(({ name }) => name === 'adder')?.knobs.maxBatchSize).toBe(3);
  });

  test('once a leader closes with its temporary precision, a text starts over in the one from before, and a job waits', async () => {
    const site = await openTabs(2);
    const [follower] = await site.followers();
    if (!follower) throw new Error('There is no follower.');
    const request = {
      prompt: 'The big red',
      options: { temperature: 0, maxNewTokens: 500, ignoreEos: true },
    };
    const [undisturbed] = await undisturbedResults(follower, [request]);
    await follower.page.evaluate(async () => {
      await window.tabserve.loadModel('storyteller', { dtype: 'q8', isTemporary: true });
      const rows = Array.from({ length: 500 }, (_, index) => ({ index }));
      await window.tabserve.jobs.create({ rows, template: 'Once {{index}}', options: { maxNewTokens: 64 } });
    });
    await follower.begin([request]);
    await follower.whenStreamed(2);
    await site.close(await site.leader());
    const [outcome] = await follower.outcomesOfBegun();
    expect(outcome?.value?.text).toBe(undisturbed?.text);
    const types = await follower.page.evaluate(() => window.recorder.updates.map(({ type }) => type));
    expect(types.filter((type) => type === 'started' || type === 'restarted')).toEqual([
      'started',
      'restarted',
      'started',
    ]);
    const job = await follower.page.evaluate(async () => (await window.tabserve.jobs.list())[0]?.info);
    expect(job).toMatchObject({
      state: 'paused',
      error: { message: expect.stringContaining('storyteller in q8 began this job') },
    });
  });

  test('the page tells the hand-over while it happens', async () => {
    const site = await openTabs(2);
    const [follower] = await site.followers();
    if (!follower) throw new Error('There is no follower.');
    const { release } = await holdWeights(site);
    await follower.begin(sampledRequests(1, 0, 4));
    await site.close(await site.leader());
    await expect(follower.page.getByTestId('serve-state')).toHaveText(/^Handing over/);
    expect((await follower.status()).isHandover).toBe(true);
    release();
    await expect(follower.page.getByTestId('serve-state')).toHaveText('Ready');
  });
});

declare global {
  interface Window {
    sent?: PromiseLike<number>[];
  }
}

async function undisturbedResults(
  tab: Tab | undefined,
  requests: readonly TextRequest[],
): Promise<readonly { readonly text: string }[]> {
  const results = await tab?.generateAll(requests);
  await tab?.forget();
  return results ?? [];
}

function textOf({ value, code, message }: Streamed): string {
  return value?.text ?? `${code}: ${message}`;
}

/** The streamed text and tokens must equal the result, even if a worker was lost in between. */
function expectNothingLostOrDoubled(outcomes: readonly Streamed[]): void {
  expect(outcomes.map(({ streamed }) => streamed)).toEqual(
    outcomes.map(({ value }) => ({ text: value?.generatedText, tokenIds: value?.tokenIds })),
  );
}

/** Holds every load of the model back until it is released. */
async function holdWeights(site: Site): Promise<{ readonly release: () => void }> {
  const gate = Promise.withResolvers<void>();
  await site.context.route('**/model.safetensors', async (route) => {
    await gate.promise;
    // The tab that asked may be gone.
    await route.continue().catch(() => {});
  });
  return { release: gate.resolve };
}

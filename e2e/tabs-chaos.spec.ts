import { sampledRequests } from './support/sampled-requests.ts';
import { runSeed, seededRandom } from './support/seeded-random.ts';
import type { Site } from './support/site.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

const MAX_TABS = 5;
const MIN_TABS = 2;

test(
  'whatever tabs open, submit, cancel, reload, close and crash, every request of one that lives settles once',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const numRounds = IS_WHOLE ? 50 : 8;
    test.setTimeout(60_000 + numRounds * 30_000);
    const random = seededRandom(runSeed());
    const pick = <Value>(values: readonly Value[]): Value => {
      const value = values[Math.floor(random() * values.length)];
      if (value === undefined) throw new Error('There is nothing to choose from.');
      return value;
    };
    const [first] = await site.openReady(MIN_TABS);
    const requests = sampledRequests(9, 0, 10);
    const expected = (await first?.generateAll(requests))?.map(({ text }) => text) ?? [];
    await first?.forget();

    const numbers = new Map<Tab, number>();
    const submit = (tab: Tab): Promise<void> =>
      tab.begin(Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(requests)));
    const actions: Readonly<Record<string, { readonly weight: number; readonly act: () => Promise<void> }>> =
      {
        submit: { weight: 4, act: () => submit(pick(site.tabs)) },
        cancel: { weight: 2, act: () => cancelOne(pick(site.tabs), random()) },
        open: { weight: 2, act: async () => void (await site.open()) },
        reload: {
          weight: 1,
          act: async () => {
            const tab = pick(site.tabs);
            numbers.delete(tab);
            await site.reload(tab);
          },
        },
        close: { weight: 2, act: () => site.close(pick(site.tabs)) },
        crash: { weight: 1, act: () => site.crash(pick(site.tabs)) },
      };
    const lottery = Object.entries(actions).flatMap(([name, { weight }]) =>
      Array.from({ length: weight }, () => name),
    );
    const story: string[] = [];
    for (let round = 0; round < numRounds; round++) {
      const name = nextAction(pick(lottery), site.tabs.length);
      story.push(name);
      await submit(pick(site.tabs));
      await actions[name]?.act();
      expect(await numLeaders(site), `leaders after ${story.join(', ')}`).toBeLessThanOrEqual(1);
      for (const tab of site.tabs) {
        const number = await numberOf(tab);
        if (number !== undefined) expect(numbers.get(tab) ?? number, story.join(', ')).toBe(number);
        if (number !== undefined) numbers.set(tab, number);
      }
    }

    for (const tab of site.tabs) {
      const outcomes = await tab.outcomesOfBegun();
      for (const { value, code } of outcomes) {
        if (value) expect(expected, story.join(', ')).toContain(value.text);
        else expect(code, story.join(', ')).toBe('REQUEST_CANCELLED');
      }
      const ends = await endsOf(tab);
      expect(
        ends.filter((count) => count !== 1),
        `ends of a request after ${story.join(', ')}`,
      ).toEqual([]);
      expect(ends.length).toBe(outcomes.length);
    }
    await expectAllSlotsFree(await site.leader());
  },
);

/** Keeps the number of tabs in its range: an action that would leave it becomes its opposite. */
function nextAction(name: string, numTabs: number): string {
  if (name === 'open' && numTabs >= MAX_TABS) return 'close';
  if ((name === 'close' || name === 'crash') && numTabs <= MIN_TABS) return 'open';
  return name;
}

function cancelOne(tab: Tab, share: number): Promise<void> {
  return tab.page.evaluate((at) => {
    const begun = window.begun ?? [];
    begun[Math.floor(at * begun.length)]?.cancel();
  }, share);
}

async function numLeaders(site: Site): Promise<number> {
  const roles = await Promise.all(site.tabs.map(async (tab) => (await tab.status()).role));
  return roles.filter((role) => role === 'leader').length;
}

/** Undefined until a worker knows the tab. */
async function numberOf(tab: Tab): Promise<number | undefined> {
  return (await tab.status()).tabs.find(({ isThis }) => isThis)?.number;
}

/** How often each request of the tab has ended. */
async function endsOf(tab: Tab): Promise<number[]> {
  const counts = new Map<string, number>();
  for (const { type, requestId } of await tab.updates()) {
    const isEnd = type === 'finished' || type === 'failed';
    if (type === 'submitted' || isEnd) counts.set(requestId, (counts.get(requestId) ?? 0) + (isEnd ? 1 : 0));
  }
  return [...counts.values()];
}

/** Eight requests run in one batch of eight, which takes eight slots. */
async function expectAllSlotsFree(tab: Tab): Promise<void> {
  await tab.ready();
  // The eighth fills the batch, which starts then. Their prompts may take several steps, so the first texts outlast those.
  await tab.configure({ policy: 'static', maxBatchSize: 8, batchWaitTimeoutMs: 3_600_000 });
  await tab.forget();
  await tab.generateAll(sampledRequests(8, 0));
  expect(Math.max(...(await tab.steps('decode')).map(({ batchSize }) => batchSize))).toBe(8);
}

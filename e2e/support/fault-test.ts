import type { BrowserContext } from 'playwright/test';

import type { FaultPlan, InjectedFault } from '../faults/inject-faults.ts';
import { requireEnvironment } from './environment.ts';
import { sampledRequests } from './sampled-requests.ts';
import { Tab, type Streamed, type TextRequest } from './tab.ts';
import { expect, test as base } from './test.ts';

export { expect };

declare global {
  interface Window {
    /** From the last token before each loss to the first one after it, ms. */
    gaps: number[];
  }
}

/** A page whose workers cause the faults that are planned for them. */
export class FaultyPage {
  readonly tab: Tab;
  readonly #context: BrowserContext;
  /** The plan of each worker that has requested one. */
  readonly plans: FaultPlan[] = [];
  planNext: (life: number) => FaultPlan = () => ({});

  constructor(context: BrowserContext, tab: Tab) {
    this.#context = context;
    this.tab = tab;
  }

  /** Anew, as another client of another worker. */
  async open(query: string): Promise<void> {
    await this.#context.unroute('**/faults.json');
    await this.#context.route('**/faults.json', async (route) => {
      const plan = this.planNext(this.plans.length);
      this.plans.push(plan);
      await route.fulfill({ json: plan });
    });
    await this.tab.open(query);
    await this.tab.page.evaluate(installGapRecorder);
  }
}

interface FaultFixtures {
  readonly faulty: FaultyPage;
}

export const test = base.extend<FaultFixtures>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Playwright asks for a pattern
  baseURL: async ({}, provide) => provide(requireEnvironment().faultsUrl),
  faulty: async ({ context, page }, provide) => {
    const faulty = new FaultyPage(context, new Tab(context, page));
    await provide(faulty);
    expect(
      faulty.tab.errors.filter((error) => !error.includes('injected')),
      'errors on the console that were not injected',
    ).toEqual([]);
  },
});

export interface SurvivalOptions {
  readonly faults: readonly InjectedFault[];
  readonly query: string;
  readonly random: () => number;
  readonly calm: Tab;
  readonly maxNewTokens?: number;
}

/**
 * Runs eight requests at a time until a worker has died of each fault. The seed chooses the moments, all after a worker's first
 * token. Every text must equal that of an undisturbed run, and every stream must equal its result.
 *
 * @returns The gaps, ms, in ascending order.
 */
export async function survive(
  faulty: FaultyPage,
  { faults, query, random, calm, maxNewTokens = 24 }: SurvivalOptions,
): Promise<readonly number[]> {
  const requests = sampledRequests(8, 0, maxNewTokens);
  const undisturbed = (await calm.generateAll(requests)).map(({ text }) => text);
  const gaps: number[] = [];
  faulty.planNext = (life) => {
    const fault = faults[life];
    return fault ? { fault, isAfterToken: true, atRun: 1 + Math.floor(6 * random()) } : {};
  };
  await faulty.open(query);
  const { tab } = faulty;
  const rung = (await tab.ready()).backend?.rung;
  // Until the worker that serves is one that is to live.
  while (faulty.plans.at(-1)?.fault) gaps.push(...(await runAll(faulty, requests, undisturbed)));
  expect((await tab.status()).backend?.rung, 'the rung after all losses').toBe(rung);
  return gaps.toSorted((a, b) => a - b);
}

async function runAll(
  { tab }: FaultyPage,
  requests: readonly TextRequest[],
  expected: readonly string[],
): Promise<readonly number[]> {
  await tab.page.evaluate(() => {
    window.begun = [];
    window.gaps.length = 0;
  });
  await tab.begin(requests);
  const outcomes = await tab.outcomesOfBegun();
  expect(outcomes.map(textOf)).toEqual(expected);
  expect(outcomes.map(({ streamed }) => streamed)).toEqual(
    outcomes.map(({ value }) => ({ text: value?.generatedText, tokenIds: value?.tokenIds })),
  );
  return tab.page.evaluate(() => window.gaps);
}

export function textOf({ value, code, message }: Streamed): string {
  return value?.text ?? `${code}: ${message}`;
}

/** Runs in the page. */
function installGapRecorder(): void {
  window.gaps = [];
  let lastTokenAtMs: number | undefined;
  let lostAtMs: number | undefined;
  window.tabserve.subscribe('requests', (updates) => {
    for (const { type } of updates) {
      if (type === 'resubmitted') lostAtMs ??= lastTokenAtMs;
      if (type !== 'chunk') continue;
      const nowMs = performance.now();
      if (lostAtMs !== undefined) window.gaps.push(nowMs - lostAtMs);
      lostAtMs = undefined;
      lastTokenAtMs = nowMs;
    }
  });
}

export function describeGaps(gaps: readonly number[]): string {
  const at = (share: number): string => ((gaps[Math.ceil(share * gaps.length) - 1] ?? 0) / 1000).toFixed(2);
  return `time to the next token after a loss: p50 ${at(0.5)} s, p95 ${at(0.95)} s, longest ${at(1)} s`;
}

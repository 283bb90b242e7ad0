import type { Page } from 'playwright/test';

import type { RequestId } from '../src/protocol/ids.ts';
import type { SlotSpan, StepRecord } from '../src/protocol/stats.ts';
import { expect, test } from './support/bridge-test.ts';
import { eosTokenId } from './support/reference.ts';
import { ANY_BACKEND } from './support/test.ts';

/** The first slot span of a sequence. */
interface Admission extends SlotSpan {
  /** On the worker's clock. */
  readonly startedAtMs: number;
}

declare global {
  interface Window {
    admissions: Admission[];
  }
}

function complete(url: string, body: object, signal?: AbortSignal): Promise<Response> {
  return fetch(`${url}/v1/completions`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ prompt: 'Once upon a time', stream: true, ...body }),
    ...(signal && { signal }),
  });
}

async function recordAdmissions(page: Page): Promise<void> {
  await page.evaluate(() => {
    const known = new Set<string>();
    window.admissions = [];
    window.tabserve.subscribe('stats', ({ slotSpans, sentAtMs }) => {
      for (const slotSpan of slotSpans) {
        const name = `${slotSpan.requestId}#${slotSpan.index}`;
        if (slotSpan.spanIndex > 0 || known.has(name)) continue;
        known.add(name);
        window.admissions.push({ ...slotSpan, startedAtMs: sentAtMs - slotSpan.startedAgoMs });
      }
    });
  });
}

/** Resolves once eight texts of equal length have begun together: the next ones begin only when these end. */
async function afterNextGroup(page: Page): Promise<void> {
  const numBefore = await page.evaluate(() => window.admissions.length);
  const numAfter = (Math.floor(numBefore / 8) + 1) * 8;
  await page.waitForFunction((num) => window.admissions.length >= num, numAfter);
}

/** Whose sequences were admitted once this request had arrived, in order. Empty until it was admitted. */
async function admittedSince(page: Page, id: RequestId | undefined): Promise<RequestId[]> {
  const steps = await page.evaluate((): StepRecord[] => window.recorder.steps);
  const admissions = await page.evaluate(() => window.admissions);
  const own = admissions.find(({ requestId }) => requestId === id);
  if (!own) return [];
  const arrivedAtMs = own.startedAtMs - own.queueWaitMs;
  const rowOf = ({ firstStepIndex, slot }: SlotSpan): number =>
    steps.find((step) => step.stepIndex === firstStepIndex)?.slots.indexOf(slot) ?? -1;
  return admissions
    .filter(({ startedAtMs }) => startedAtMs > arrivedAtMs)
    .toSorted((a, b) => a.firstStepIndex - b.firstStepIndex || rowOf(a) - rowOf(b))
    .map(({ requestId }) => requestId);
}

test(
  'a plain request beside one of 62 prompts × 16 × 200 tokens starts within two admissions',
  { tag: ANY_BACKEND },
  async ({ served }) => {
    const { url, tab, bridge } = served;
    const submitted: RequestId[] = [];
    const unsubscribe = bridge.serve.subscribe('requests', (updates) => {
      for (const { type, requestId } of updates) if (type === 'submitted') submitted.push(requestId);
    });
    await tab.forget();
    await recordAdmissions(tab.page);
    const large = new AbortController();
    const prompts = Array.from({ length: 62 }, () => 'Once upon a time');
    const body = { prompt: prompts, n: 16, max_tokens: 200, logit_bias: { [eosTokenId]: -100 } };
    expect((await complete(url, body, large.signal)).status).toBe(200);
    await afterNextGroup(tab.page);
    const plain = await complete(url, { max_tokens: 1 });
    expect(await plain.text()).toMatch(/data: \[DONE\]\n\n$/);
    const plainId = submitted.at(-1);
    await expect.poll(() => admittedSince(tab.page, plainId)).toContain(plainId);
    expect((await admittedSince(tab.page, plainId)).slice(0, 2)).toContain(plainId);
    large.abort();
    unsubscribe();
  },
);

test(
  'a request that an idle server could never admit is refused for good',
  { tag: ANY_BACKEND },
  async ({ served }) => {
    const prompts = Array.from({ length: 64 }, () => 'Once');
    const refused = await complete(served.url, { prompt: prompts, n: 16 });
    expect(refused.status).toBe(400);
    expect(refused.headers.get('retry-after')).toBeNull();
    expect(await refused.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/1024 sequences can never be admitted.*1000 \(maxQueuedRequests\)/),
      },
    });
  },
);

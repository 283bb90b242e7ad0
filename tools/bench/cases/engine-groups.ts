import type { Page } from 'playwright';

import type { Chosen, Group, Samples, Subject } from '../bench-case.ts';
import type { Column } from '../record.ts';
import { knobsOf, latePrompts, realRequests, sampleRequests, SUSTAINED_MS } from './engine-requests.ts';
import { play, type Play } from './play-in-page.ts';

const RATE: Column = { name: 'tokens/s', digits: 1, shows: 'p50' };
const TTFT: Column = { name: 'TTFT', unit: 'ms', digits: 1, shows: 'p50 / p95' };

const POLICIES = [
  ['off', 8],
  ['static', 8],
  ['continuous', 8],
  ['continuous', 1],
  ['continuous', 2],
  ['continuous', 4],
  ['continuous', 16],
] as const;

/** Groups of the embedded model. Its page must be ready. */
export function embeddedGroups(page: Page, { isShort }: Chosen): readonly Group[] {
  const leastMs = isShort ? 0 : SUSTAINED_MS;
  return [
    {
      caption: 'Policies, 64 new tokens for each request',
      labels: ['policy', 'requests'],
      columns: [
        RATE,
        { name: 'decode step', unit: 'ms', digits: 1, shows: 'p50 / p95' },
        TTFT,
        { name: 'overhead', unit: '%', digits: 1, shows: 'mean' },
      ],
      ratio: { header: 'over `off`', column: RATE.name },
      subjects: POLICIES.map(([policy, numRequests]) =>
        subjectOf(page, [policy, String(numRequests)], {
          knobs: knobsOf(policy, numRequests),
          requests: sampleRequests(numRequests, 64),
          leastMs,
        }),
      ),
    },
  ];
}

/** A short run of the same requests goes before each: it compiles the shaders and makes room in the KV cache. */
function subjectOf(page: Page, labels: readonly string[], plan: Play): Subject {
  const requests = plan.requests.map(({ prompt, options }) => ({
    prompt,
    options: { ...options, maxNewTokens: 3 },
  }));
  const run = async (): Promise<Samples> => {
    await play(page, { ...plan, requests, leastMs: 0 });
    return play(page, plan);
  };
  return { labels, measure: run };
}

/** Groups of the real model. It must be loaded in the page. */
export function realGroups(page: Page, { isShort }: Chosen): readonly Group[] {
  const numTokens = isShort ? 4 : 32;
  const cases = isShort
    ? [[40, 2] as const]
    : [40, 400].flatMap((length) => [1, 8, 16].map((rows) => [length, rows] as const));
  const planOf = (length: number, rows: number): Play => ({
    knobs: { ...knobsOf('continuous', rows), prefillStallMs: 'auto' },
    requests: realRequests(length, rows, numTokens),
    leastMs: 0,
  });
  return [
    {
      caption: 'Requests at once',
      labels: ['prompts', 'requests'],
      columns: [RATE, TTFT, { name: 'between tokens', unit: 'ms', digits: 1, shows: 'p50 / p95' }],
      subjects: cases.map(([length, rows], index) => ({
        labels: [`${length} tokens`, String(rows)],
        // The browser optimizes WebAssembly while it first runs.
        ...(index === 0 && { warmUp: () => play(page, planOf(40, 2)) }),
        measure: () => play(page, planOf(length, rows)),
      })),
    },
    {
      caption: 'Four prompts of 200 tokens arrive while a text runs',
      labels: ['pause for prompts'],
      columns: [
        { name: 'longest pause', unit: 'ms', digits: 0, shows: 'p50' },
        { name: 'in steps', digits: 1, shows: 'p50' },
        RATE,
      ],
      ratio: { header: 'tokens/s over no limit', column: RATE.name },
      subjects: ([Infinity, 'auto'] as const).map((limit) => ({
        labels: [limit === 'auto' ? 'limited' : 'no limit'],
        measure: () => play(page, latePrompts(limit, numTokens)),
      })),
    },
  ];
}

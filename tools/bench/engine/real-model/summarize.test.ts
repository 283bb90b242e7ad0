import { expect, it } from 'vitest';

import { createStepRecord } from '../../../../src/ui/test-support.ts';
import type { Played, PlayedRequest } from './in-page.ts';
import { realModelReportOf } from './report.ts';
import { summarizeRows, summarizeStall } from './summarize.ts';

function request(...chunks: readonly (readonly [atMs: number, numTokens: number])[]): PlayedRequest {
  return {
    numPromptTokens: 40,
    ttftMs: chunks[0]?.[0] ?? 0,
    chunks: chunks.map(([atMs, numTokens]) => ({ atMs, numTokens })),
  };
}

/** @param steps Prefill steps are negative, ms. */
function played(wallMs: number, requests: readonly PlayedRequest[], steps: readonly number[] = []): Played {
  const records = steps.map((ms) =>
    createStepRecord({ kind: ms < 0 ? 'prefill' : 'decode', stepMs: Math.abs(ms) }),
  );
  return { wallMs, requests, steps: records };
}

it('tokens that come together share the time since the last ones', () => {
  const rows = summarizeRows([played(1000, [request([100, 1], [160, 1], [220, 2]), request([200, 1])])]);
  expect(rows).toEqual({
    numRequests: 2,
    numPromptTokens: 40,
    tokensPerSecond: { median: 5, min: 5, max: 5 },
    ttftMs: { count: 2, p50: 150, p95: 195 },
    itlMs: { count: 3, p50: 30, p95: 57 },
  });
});

it('the longest pause is told in decode steps, and the rates are compared', () => {
  const text = [request([100, 10])];
  const bounded = played(1100, text, [-500, 10, 10, -30, 10, -40, 10, 10]);
  const unlimited = played(1000, text, [-500, 10, 10, -390, 10, 10]);
  const stall = summarizeStall([bounded], [unlimited]);
  expect(stall).toMatchObject({
    longestGapMs: { median: 50 },
    longestGapSteps: { median: 5 },
    unlimitedGapMs: { median: 400 },
    unlimitedGapSteps: { median: 40 },
  });
  expect(stall.throughputRatio).toBeCloseTo(10 / 11);
});

it('the report has a table and the stall of each precision', () => {
  const rows = [summarizeRows([played(1000, [request([100, 1], [160, 1])])])];
  const stall = summarizeStall(
    [played(1100, [request([1, 10])], [10, -30, 10])],
    [played(1000, [], [10, -90, 10])],
  );
  const report = realModelReportOf({
    startedAt: '',
    command: 'npm run bench -- --model smollm2',
    machine: { cpu: 'a CPU', numCores: 2, memoryGiB: 4 },
    browser: 'a browser',
    backend: { name: 'wasm', rung: 'wasm', precision: 'fp32', adapter: 'CPU, 1 thread', fallbackReason: '' },
    model: { id: 'SmolLM2', numParameters: 134_515_008, numLayers: 30, contextLength: 8192 },
    settings: { rounds: 1, maxNewTokens: 32 },
    precisions: [{ dtype: 'q8', residentBytes: 300e6, rows, stall }],
  });
  expect(report).toContain('SmolLM2 (134.5 M parameters, 30 layers) on wasm: CPU, 1 thread; a browser');
  expect(report).toContain('q8, 300 MB of memory for the tab:');
  expect(report).toMatch(/\| 40 tokens \| 1 +\| 2\.0 +\| 100\.0 \/ 100\.0 ms \| 60\.0 \/ 60\.0 ms/);
  expect(report).toContain('longest pause is 40 ms, 4.0 decode steps; without a limit 100 ms, 10.0 steps');
});

import { describe, expect, it } from 'vitest';

import type { BenchRecord } from './record.ts';
import { figureText, reportOf } from './report.ts';

const RATE = { name: 'tokens/s', digits: 1, shows: 'p50' } as const;

const record: BenchRecord = {
  key: 'storyteller wasm',
  startedAt: '2026-11-28T10:00:00.000Z',
  command: 'npm run bench -- engine',
  machine: { cpu: 'a CPU', numCores: 2, memoryGiB: 24 },
  loadAverage: 0.5,
  browser: 'Chromium 156',
  rounds: 3,
  model: 'Storyteller',
  adapter: 'wasm',
  note: 'Greedy.',
  groups: [
    {
      caption: 'Policies',
      labels: ['policy'],
      columns: [RATE, { name: 'TTFT', unit: 'ms', digits: 0, shows: 'p50 / p95' }],
      ratio: 'over `off`',
      rows: [
        {
          labels: ['off'],
          figures: { 'tokens/s': { count: 3, p50: 10 }, TTFT: { count: 9, p50: 2, p95: 31 } },
        },
        {
          labels: ['continuous'],
          figures: { 'tokens/s': { count: 3, p50: 25 } },
          ratio: { count: 3, p50: 2.5, min: 2.25, max: 3 },
        },
        { labels: ['static'], missing: 'failed: out of memory', figures: {} },
      ],
    },
  ],
};

describe('reportOf', () => {
  it('begins with the conditions and the command that repeats the run', () => {
    expect(reportOf(record).split('\n')[0]).toBe(
      'Storyteller on wasm; Chromium 156; a CPU, 2 cores, load 0.5 before; 2026-11-28. 3 interleaved rounds. Greedy. `npm run bench -- engine`',
    );
  });

  it('has a row for each subject, with its ratio or why it has no figures', () => {
    const rows = reportOf(record)
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split('|').map((cell) => cell.trim()));
    expect(rows.map((cells) => cells.slice(1, -1))).toEqual([
      ['policy', 'tokens/s', 'TTFT p50 / p95', 'over `off`'],
      expect.anything(),
      ['off', '10.0', '2 / 31 ms', ''],
      ['continuous', '25.0', '', '2.50× (2.25 to 3.00)'],
      ['static', 'failed: out of memory', '', ''],
    ]);
  });
});

describe('figureText', () => {
  it("writes a figure in its column's unit", () => {
    expect(figureText({ count: 1, mean: 0.125 }, { ...RATE, unit: '%', shows: 'mean' })).toBe('12.5 %');
    expect(figureText({ count: 1, p50: 1500 }, { ...RATE, unit: 's' })).toBe('1.5 s');
    expect(figureText({ count: 1, max: 2e6 }, { ...RATE, unit: 'MB', shows: 'max' })).toBe('2.0 MB');
    expect(figureText({ count: 1 }, RATE)).toBe('');
  });
});

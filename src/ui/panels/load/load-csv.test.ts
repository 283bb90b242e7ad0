import { expect, it } from 'vitest';

import { loadCsv } from './load-csv.ts';
import { createTrial } from '../../testing/fake-load.ts';

function cellsOf(...trials: Parameters<typeof loadCsv>[0]['trials']) {
  const csv = loadCsv({
    deployment: 'text-generator',
    mode: 'compare',
    scenario: undefined,
    latencyLimitMs: 500,
    trials,
  });
  expect(csv.endsWith('\n')).toBe(true);
  const [titles = [], ...rows] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(titles.map((title, index) => [title, row[index]])));
}

it('has a row for each trial, with units in the titles', () => {
  const e2eMs = { p50: 1.5, p95: 20, p99: 30 };
  const rows = cellsOf(createTrial('off', { e2eMs }), createTrial('static', { tokensPerSecond: 0.25 }));
  expect(rows).toMatchObject([
    {
      '"Run"': '"off"',
      '"End to end p50 (ms)"': '1.5',
      '"End to end p99 (ms)"': '30',
      '"Goodput (requests/s within 500 ms)"': '10',
    },
    { '"Run"': '"static"', '"Tokens/s"': '0.25', '"End to end p50 (ms)"': '' },
  ]);
});

it('keeps a quote in a name', () => {
  expect(cellsOf(createTrial('say "hi"'))[0]?.['"Run"']).toBe('"say ""hi"""');
});

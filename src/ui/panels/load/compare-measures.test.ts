import { describe, expect, it } from 'vitest';

import { multipleOfRun, multiplesOf, titleOfGoodput } from './compare-measures.ts';
import { createTrial } from '../../testing/fake-load.ts';

describe('the measures of a comparison', () => {
  it('are bars to one scale, with their ratios to the first run', () => {
    const trials = [
      createTrial('off', { tokensPerSecond: 50, e2eMs: { p50: 1, p95: 12_000, p99: 9 } }),
      createTrial('static', { tokensPerSecond: 200, e2eMs: { p50: 1, p95: 900, p99: 9 } }),
    ];
    const rows = multiplesOf(trials).map(({ label, figures }) => [
      label,
      ...figures
        .filter(({ name }) => name === 'Tokens/s' || name === 'E2E p95')
        .map(({ value, ratio, share }) => [value, ratio, share]),
    ]);
    expect(rows).toEqual([
      ['off', ['50.0', '1.00×', 0.25], ['12.0 s', '1.00×', 1]],
      ['static', ['200', '4.00×', 1], ['900 ms', '0.07×', 0.075]],
      ['continuous', ['–', '–', 0], ['–', '–', 0]],
    ]);
  });

  it('leave out what a run that finished nothing has no value of', () => {
    const none = { tokensPerSecond: 0, goodputPerSecond: 0 };
    for (const { figures } of multiplesOf([createTrial('off', none), createTrial('static', none)]))
      for (const { ratio, share } of figures) expect([ratio, share]).toEqual(['–', 0]);
  });

  it('name the limit of their goodput', () => {
    expect(titleOfGoodput(60_000)).toBe('Goodput/s within 60.0 s');
  });
});

it('a single run is compared with nothing', () => {
  const { figures } = multipleOfRun(createTrial('run'), 'text-generator');
  expect(figures.some(({ ratio, share }) => ratio !== undefined || share !== undefined)).toBe(false);
  expect(figures.at(-1)).toEqual({ name: 'Finished', value: '10 of 10' });
});

it('an embedder has no first token', () => {
  const { figures } = multipleOfRun(createTrial('run'), 'embedder');
  expect(figures.map(({ name }) => name).slice(0, 3)).toEqual(['Tokens/s', 'Goodput/s', 'E2E p95']);
});

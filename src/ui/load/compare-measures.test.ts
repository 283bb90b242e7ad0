import { describe, expect, it } from 'vitest';

import { measuresOf, titleOfGoodput } from './compare-measures.ts';
import { createTrial } from './test-support.ts';

describe('the measures of a comparison', () => {
  it('are bars to one scale, with their ratios to the first run', () => {
    const trials = [
      createTrial('off', {
        tokensPerSecond: 50,
        goodputPerSecond: 0.5,
        e2eMs: { p50: 1, p95: 12_000, p99: 9 },
      }),
      createTrial('continuous', {
        tokensPerSecond: 200,
        goodputPerSecond: 2,
        e2eMs: { p50: 1, p95: 900, p99: 9 },
      }),
    ];
    expect(measuresOf(trials, 2000).map(({ title, bars }) => [title, ...bars])).toEqual([
      [
        'Tokens/s',
        { label: 'off', text: '50.0', ratio: '1.00×', share: 0.25 },
        { label: 'continuous', text: '200', ratio: '4.00×', share: 1 },
      ],
      [
        'Goodput/s within 2,000 ms',
        { label: 'off', text: '0.50', ratio: '1.00×', share: 0.25 },
        { label: 'continuous', text: '2.00', ratio: '4.00×', share: 1 },
      ],
      [
        'End to end p95, less is better',
        { label: 'off', text: '12.0 s', ratio: '1.00×', share: 1 },
        { label: 'continuous', text: '900 ms', ratio: '0.07×', share: 0.075 },
      ],
    ]);
  });

  it('leave out what a run that finished nothing has no value of', () => {
    const none = { tokensPerSecond: 0, goodputPerSecond: 0 };
    const trials = [createTrial('off', none), createTrial('static', none)];
    for (const { bars } of measuresOf(trials, 2000))
      for (const { ratio, share } of bars) expect([ratio, share]).toEqual(['–', 0]);
  });

  it('name the limit of their goodput', () => {
    expect(titleOfGoodput(60_000)).toBe('Goodput/s within 60.0 s');
  });
});

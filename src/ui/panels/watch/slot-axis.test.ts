import { describe, expect, it } from 'vitest';

import { ticksBetween } from './slot-axis.ts';

const labelsOf = (...range: Parameters<typeof ticksBetween>) =>
  ticksBetween(...range).map(({ label }) => label);

describe('the labels of the time axis', () => {
  it('count from the start of the run, with their unit', () => {
    expect(labelsOf(0, 1.1, 5)).toEqual(['0 s', '0.5 s', '1 s']);
  });

  it('turn to minutes from one minute on', () => {
    expect(labelsOf(50, 71, 5)).toEqual(['50 s', '55 s', '1:00', '1:05', '1:10']);
  });

  it('are as many as there is room for', () => {
    expect(labelsOf(0, 300, 5)).toEqual(['0 s', '1:00', '2:00', '3:00', '4:00', '5:00']);
    expect(labelsOf(0, 300, 3)).toEqual(['0 s', '2:00', '4:00']);
    expect(labelsOf(0, 0.25, 8)).toEqual(['0 s', '0.05 s', '0.1 s', '0.15 s', '0.2 s', '0.25 s']);
  });

  it('stay where they are while the axis moves', () => {
    expect(labelsOf(3.02, 13.02, 6)).toEqual(['4 s', '6 s', '8 s', '10 s', '12 s']);
    expect(labelsOf(3.9, 13.9, 6)).toEqual(['4 s', '6 s', '8 s', '10 s', '12 s']);
  });
});

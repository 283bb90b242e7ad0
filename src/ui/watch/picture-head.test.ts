import { describe, expect, it } from 'vitest';

import { placeHead } from './picture-head.ts';

const widthOf = (text: string, font: string): number => text.length * (font.startsWith('600') ? 8 : 6);
const LATENCY = {
  title: 'Time to first token',
  subtitle: 'queue wait included, logarithmic',
  columnNames: ['time [s]', 'p50 [ms]', 'p95 [ms]', 'p99 [ms]'],
};
const LONG = {
  title: 'Keys and values of what runs',
  subtitle: 'in use, and reserved beyond it for what may come',
  columnNames: ['time [s]', 'used [MiB]', 'reserved and not in use [MiB]', 'free [MiB]'],
};

describe('the head of a chart’s picture', () => {
  it('has title and subtitle on lines of their own, then a sample and a name with its unit for each line', () => {
    const { texts, samples, height } = placeHead(LATENCY, 600, widthOf);
    expect(texts.map(({ text, x, y }) => [text, x, y])).toEqual([
      ['Time to first token', 0, 0],
      ['queue wait included, logarithmic', 0, 20],
      ['p50 [ms]', 28, 38],
      ['p95 [ms]', 120, 38],
      ['p99 [ms]', 212, 38],
    ]);
    expect(samples).toEqual([
      { x: 0, y: 47 },
      { x: 92, y: 47 },
      { x: 184, y: 47 },
    ]);
    expect(height).toBe(56);
  });

  it.each([240, 320, 900])('is no wider than a chart of %i pixels, and leaves nothing out', (width) => {
    for (const chart of [LATENCY, LONG]) {
      const { texts, samples, height } = placeHead(chart, width, widthOf);
      for (const { text, font, x, y } of texts) {
        expect(x + widthOf(text, font)).toBeLessThanOrEqual(width);
        expect(y).toBeLessThan(height);
      }
      const words = texts.map(({ text }) => text).join(' ');
      expect(words).toBe([chart.title, chart.subtitle, ...chart.columnNames.slice(1)].join(' '));
      expect(samples).toHaveLength(3);
    }
  });
});

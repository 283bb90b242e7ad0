import { describe, expect, it, vi } from 'vitest';

import { createBar } from '../test-support.ts';
import { drawBars } from './draw-slots.ts';
import type { PlacedBar } from './slot-layout.ts';

// A theme needs a page: here every colour resolves to its own name.
vi.mock(import('../theme/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const BAR = createBar({ owner: { clientId: undefined, ordinal: 7, prompt: 'Once' } });

/** What is drawn of a bar, in its order. */
function draw(place: Omit<PlacedBar, 'bar'>) {
  const drawn: { readonly color: string; readonly x: number; readonly text?: string }[] = [];
  const context = {
    fillStyle: '',
    fillRect: (x: number) => drawn.push({ color: context.fillStyle, x }),
    fillText: (text: string, x: number) => drawn.push({ color: context.fillStyle, x, text }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that drawing a bar calls
  drawBars(context as unknown as CanvasRenderingContext2D, {
    placed: [{ bar: BAR, ...place }],
    laneHeight: 22,
    tracedId: undefined,
  });
  return drawn;
}

describe('a bar of a slot', () => {
  it('has ground of its own under its wait, which else could not be told from the bar before it', () => {
    const drawn = draw({ waitX: 30, startX: 40, decodeX: 50, endX: 120 });
    expect(drawn.filter(({ x }) => x === 30).map(({ color }) => color)).toEqual(['--surface', '--accent']);
  });

  it('has its name on the decode part, and none before there is one', () => {
    const decoding = draw({ waitX: 30, startX: 40, decodeX: 50, endX: 120 });
    expect(decoding.find(({ text }) => text === '#7')?.x).toBeGreaterThanOrEqual(50);
    const prefilling = draw({ waitX: 30, startX: 40, decodeX: 120, endX: 120 });
    expect(prefilling.some(({ text }) => text !== undefined)).toBe(false);
  });
});

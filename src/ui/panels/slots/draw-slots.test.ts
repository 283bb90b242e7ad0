import { describe, expect, it, vi } from 'vitest';

import { createBar } from '../../testing/test-support.ts';
import type { SlotBar } from '../../state/slot-history.ts';
import { drawBars, heightOf, placeLane, textsOf, type SlotScene } from './draw-slots.ts';

// A theme needs a page: here each color resolves to its own name.
vi.mock(import('../../drawing/resolved-color.ts'), () => ({ resolvedColor: (name) => name }));

const BAR = createBar({ owner: { sender: undefined, ordinal: 7, prompt: 'Once' } });

const SCENE: SlotScene = {
  window: { startMs: 0, endMs: 1200, untilMs: 1200, left: 0, width: 120 },
  originMs: 0,
  height: 142,
  numLanes: 8,
  scrollTop: 0,
  bands: [],
  placed: [],
  gaps: [],
  outlinedIds: new Set(),
  isDimmed: false,
  hasHead: false,
};
const PLACE = { bar: BAR, waitX: 30, startX: 40, decodeX: 50, endX: 120, isCut: true, isJoined: false };

/** The drawing's calls, in their order. */
function draw(change: Partial<SlotScene>) {
  const drawn: { readonly color: string; readonly x: number; readonly alpha: number }[] = [];
  const context = {
    fillStyle: '',
    globalAlpha: 1,
    fillRect: (x: number) => drawn.push({ color: context.fillStyle, x, alpha: context.globalAlpha }),
    strokeRect: (x: number) => drawn.push({ color: 'outline', x, alpha: context.globalAlpha }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all that drawing a bar calls
  drawBars(context as unknown as CanvasRenderingContext2D, { ...SCENE, ...change });
  return drawn;
}

const textsAt = (change: Partial<SlotScene>) =>
  textsOf({ ...SCENE, ...change }).map(({ text, x }) => ({ text, x }));

/** The drawing at the end of a bar. */
function endsOf(bar: SlotBar, isCut = false) {
  const drawn = draw({ placed: [{ ...PLACE, bar, isCut }] });
  return drawn.flatMap(({ color, x }) => (x >= 115 ? [color] : []));
}

describe('a bar of a slot', () => {
  it('has ground of its own under its wait, so that it differs from the bar before it', () => {
    const drawn = draw({ placed: [PLACE] }).filter(({ x }) => x === 30);
    expect(drawn.map(({ color }) => color)).toEqual(['--paper', '--accent']);
  });

  it('ends with a gap, red where it was cut off, and with none where it goes on', () => {
    expect(endsOf({ ...BAR, end: 'length' })).toEqual(['--paper']);
    expect(endsOf({ ...BAR, end: 'abort' })).toEqual(['--bad']);
    expect(endsOf({ ...BAR, end: 'moved' })).toEqual([]);
    expect(endsOf({ ...BAR, end: 'length' }, true)).toEqual([]);
  });

  it('has its name on the decode part, and none before there is one', () => {
    expect(textsAt({ placed: [PLACE] })).toContainEqual({ text: '#7', x: 54 });
    expect(textsAt({ placed: [{ ...PLACE, decodeX: 120 }] }).some(({ text }) => text === '#7')).toBe(false);
  });

  it('has its name once, though its sequence was moved', () => {
    const moved = { ...PLACE, endX: 80 };
    const next = { ...PLACE, startX: 80, decodeX: 80, isJoined: true };
    expect(textsAt({ placed: [moved, next] }).filter(({ text }) => text === '#7')).toHaveLength(1);
  });

  it('keeps its name at the left edge where it began before it', () => {
    expect(textsAt({ placed: [{ ...PLACE, decodeX: -50 }] })).toContainEqual({ text: '#7', x: 4 });
  });

  it('has an outline where it is marked, and is pale where others are', () => {
    const dimmed = { placed: [PLACE], isDimmed: true };
    expect(draw({ ...dimmed, outlinedIds: new Set([BAR.requestId]) })).toContainEqual({
      color: 'outline',
      x: 40,
      alpha: 1,
    });
    expect(draw(dimmed).find(({ x }) => x === 50)?.alpha).toBeLessThan(0.5);
  });
});

describe('the lanes', () => {
  it('share the height without a gap or an overlap, in whole pixels', () => {
    const lanes = [0, 1, 2, 3, 4, 5, 6].map((lane) => placeLane({ ...SCENE, numLanes: 7 }, lane));
    expect(lanes[0]?.top).toBe(14);
    for (const [lane, { top, height }] of lanes.entries()) {
      expect(top).toBe(Math.round(top));
      expect(lanes[lane + 1]?.top ?? 126).toBe(top + height + 2);
    }
  });

  it('have room for a name each, and scroll where they are too many for the field', () => {
    const many = { ...SCENE, numLanes: 64 };
    expect(placeLane(many, 63)).toEqual({ top: 14 + 63 * 12, height: 10 });
    expect(heightOf(many)).toBe(142 - 112 + 64 * 12);
    expect(heightOf(SCENE)).toBe(142);
    expect(placeLane({ ...many, scrollTop: 55 * 12 }, 55).top).toBe(14);
  });

  it('say how many are below those in view', () => {
    const many = { window: { ...SCENE.window, left: 48 }, numLanes: 64 };
    const textOf = (scrollTop: number) =>
      textsAt({ ...many, scrollTop }).find(({ text }) => text.startsWith('+'));
    expect(textOf(0)).toEqual({ text: '+55', x: 44 });
    expect(textOf(heightOf({ ...SCENE, ...many }) - 142)).toBeUndefined();
  });
});

describe('the line above the lanes', () => {
  const band = { endMs: Infinity, isOdd: false };

  it('names each policy where it began, and the first one at the left edge', () => {
    const bands = [
      { ...band, policy: 'continuous', startMs: -10, endMs: 700 },
      { ...band, policy: 'static', startMs: 700 },
    ] as const;
    expect(textsAt({ bands }).slice(0, 2)).toEqual([
      { text: 'continuous', x: 0 },
      { text: 'static', x: 74 },
    ]);
  });

  it('leaves out a name that is longer than its band', () => {
    const bands = [{ ...band, policy: 'continuous', startMs: 900 }] as const;
    expect(textsAt({ bands }).some(({ text }) => text === 'continuous')).toBe(false);
  });
});

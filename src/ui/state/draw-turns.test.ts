import { afterEach, beforeEach, expect, it, vi } from 'vitest';

let createDrawTurns: typeof import('./draw-turns.ts').createDrawTurns;
const frames: (() => void)[] = [];

beforeEach(async () => {
  vi.resetModules();
  vi.useFakeTimers({ toFake: ['setTimeout', 'performance'] });
  vi.stubGlobal('requestAnimationFrame', (callback: () => void) => frames.push(callback));
  ({ createDrawTurns } = await import('./draw-turns.ts'));
});

afterEach(() => {
  frames.length = 0;
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

/** After the pause of the drawing clock. */
function nextFrame(): void {
  vi.advanceTimersByTime(50);
  frames.shift()?.();
}

it('draws so many a frame, in the order in which they asked, whoever asks twice once', () => {
  const drawn: string[] = [];
  const turns = createDrawTurns(2);
  const draws = ['a', 'b', 'c'].map((name) => () => void drawn.push(name));
  for (const draw of [...draws, ...draws]) turns.request(draw);
  expect(frames).toHaveLength(1);
  nextFrame();
  expect(drawn).toEqual(['a', 'b']);
  nextFrame();
  expect(drawn).toEqual(['a', 'b', 'c']);
  expect(frames, 'nobody waits').toHaveLength(0);
});

it('lets who draws ask again, and does not draw who has left', () => {
  const drawn: string[] = [];
  const turns = createDrawTurns(1);
  const leave = (): void => void drawn.push('left');
  const again = (): void => {
    drawn.push('again');
    if (drawn.length === 1) turns.request(again);
  };
  turns.request(again);
  turns.request(leave);
  nextFrame();
  turns.cancel(leave);
  nextFrame();
  nextFrame();
  expect(drawn).toEqual(['again', 'again']);
});

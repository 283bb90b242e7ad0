import { describe, expect, it } from 'vitest';
import { attentionMask } from './attention-mask.ts';

const UNLIMITED = Infinity;

/** Draws one line per token, with `#` for each key that the token attends to. */
function drawn(mask: Float32Array, numKeys: number): string[] {
  return Array.from({ length: mask.length / numKeys }, (_, token) =>
    Array.from(mask.subarray(token * numKeys, (token + 1) * numKeys), (added) =>
      added === 0 ? '#' : '.',
    ).join(''),
  );
}

describe('attentionMask', () => {
  it('lets a fresh prompt attend to its own tokens so far, and to nothing in the cache', () => {
    const pass = { numRows: 1, tokensPerRow: 3, positions: Int32Array.of(0, 1, 2) };
    expect(drawn(attentionMask(pass, { numPast: 1, numPadding: 0, isOwnLast: false }, UNLIMITED), 4)).toEqual(
      ['.#..', '.##.', '.###'],
    );
  });

  it("lets a later chunk attend to its row's cached tokens", () => {
    const pass = { numRows: 1, tokensPerRow: 2, positions: Int32Array.of(3, 4) };
    expect(drawn(attentionMask(pass, { numPast: 5, numPadding: 0, isOwnLast: false }, UNLIMITED), 7)).toEqual(
      ['###..#.', '###..##'],
    );
  });

  it('lets each row, idle or not, attend to its own cached tokens only', () => {
    const pass = { numRows: 3, tokensPerRow: 1, positions: Int32Array.of(1, 0, 4) };
    expect(drawn(attentionMask(pass, { numPast: 4, numPadding: 0, isOwnLast: false }, UNLIMITED), 5)).toEqual(
      ['#...#', '....#', '#####'],
    );
  });

  it('hides keys before the window, in the cache and in the pass', () => {
    const pass = { numRows: 1, tokensPerRow: 3, positions: Int32Array.of(2, 3, 4) };
    expect(drawn(attentionMask(pass, { numPast: 4, numPadding: 0, isOwnLast: false }, 2), 7)).toEqual([
      '.#..#..',
      '....##.',
      '.....##',
    ]);
  });

  it('hides scores of no keys', () => {
    const pass = { numRows: 1, tokensPerRow: 2, positions: Int32Array.of(1, 2) };
    expect(drawn(attentionMask(pass, { numPast: 1, numPadding: 1, isOwnLast: false }, UNLIMITED), 4)).toEqual(
      ['##..', '###.'],
    );
  });

  it("puts a token's own key behind all others", () => {
    const pass = { numRows: 1, tokensPerRow: 2, positions: Int32Array.of(1, 2) };
    const mask = attentionMask(pass, { numPast: 1, numPadding: 1, isOwnLast: true }, UNLIMITED);
    expect(drawn(mask, 5)).toEqual(['#...#', '##..#']);
  });

  it('gives a hidden key a softmax share of 0', () => {
    const [hidden = 0] = attentionMask(
      { numRows: 1, tokensPerRow: 1, positions: Int32Array.of(0) },
      { numPast: 1, numPadding: 0, isOwnLast: false },
      UNLIMITED,
    );
    expect(Math.exp(hidden)).toBe(0);
    expect(hidden + 1e30).toBeGreaterThan(-Infinity);
  });
});

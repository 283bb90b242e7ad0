import { describe, expect, it } from 'vitest';

import { checkLevels } from './check-levels.ts';

const WRAPS: readonly (readonly [name: string, wrap: (inner: unknown) => unknown])[] = [
  ['objects', (inner) => ({ inner })],
  ['lists', (inner) => [0, inner]],
  ['maps', (inner) => new Map([['inner', inner]])],
  ['keys of maps', (inner) => new Map([[inner, 0]])],
  ['sets', (inner) => new Set([inner])],
];

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

describe('a message', () => {
  it.each(WRAPS)('may have 500 levels of %s, and no more', (_, wrap) => {
    expect(() => checkLevels(nested(500, wrap))).not.toThrow();
    expect(() => checkLevels(nested(501, wrap))).toThrow('more than 500 levels');
    expect(() => checkLevels(nested(20_000, wrap))).toThrow('more than 500 levels');
  });

  it.each([
    ['shared memory', new SharedArrayBuffer(8)],
    ['numbers in it', [{ numbers: new Float32Array(new SharedArrayBuffer(8)) }]],
    ['a module', { module: new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)) }],
  ])('is refused with %s, which the browser would drop without a word', (_, value) => {
    expect(() => checkLevels(value)).toThrow('which other tabs cannot read');
  });

  it('may hold itself, and the same part many times', () => {
    const shared = { numbers: new Float32Array(4), text: 'a' };
    const value: Record<string, unknown> = { list: Array.from({ length: 1000 }, () => shared) };
    value['self'] = value;
    expect(() => checkLevels(value)).not.toThrow();
  });

  it('is as deep as the way on which its parts are come to first', () => {
    const chain = Array.from({ length: 600 }, (): Record<string, unknown> => ({}));
    for (const [index, link] of chain.entries()) link['next'] = chain[index + 1];
    expect(() => checkLevels(chain)).toThrow('more than 500 levels');
    expect(() => checkLevels(chain.toReversed())).not.toThrow();
  });
});

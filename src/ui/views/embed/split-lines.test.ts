import { expect, it } from 'vitest';

import { splitLines } from './split-lines.ts';

it('takes each line that holds something, whatever ends it', () => {
  expect(splitLines('\uFEFFone\r\n two \n\n\tthree\rfour\n')).toEqual({
    lines: ['one', 'two', 'three', 'four'],
    numLeftOut: 0,
  });
  expect(splitLines(' \n')).toEqual({ lines: [], numLeftOut: 0 });
});

it('takes the first 10,000 lines in their order, and counts the others', () => {
  const { lines, numLeftOut } = splitLines(Array.from({ length: 10_003 }, (_, i) => `line ${i}`).join('\n'));
  expect([lines.length, lines[0], lines.at(-1), numLeftOut]).toEqual([10_000, 'line 0', 'line 9999', 3]);
});

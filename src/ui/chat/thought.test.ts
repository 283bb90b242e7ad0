import * as fc from 'fast-check';
import { expect, it } from 'vitest';

import { parseAnswer } from './thought.ts';

it.each([
  ['Blue light scatters.', '', false, 'Blue light scatters.'],
  ['', '', false, ''],
  ['<thi', '', true, ''],
  ['<think>\nWhy is', 'Why is', true, ''],
  ['<think>\nWhy?\n</think>\n\nIt scatters.', 'Why?', false, 'It scatters.'],
  ['<think>\n\n</think>\n\nIt scatters.', '', false, 'It scatters.'],
  // A template that has written the start itself.
  ['Why?\n</think>\n\nIt scatters.', 'Why?', false, 'It scatters.'],
  ['1 <think> 2', '', false, '1 <think> 2'],
])('reads %j', (answer, thought, isThinking, text) => {
  expect(parseAnswer(answer)).toEqual({ thought, isThinking, text });
});

it('shows no tag of a whole answer, however it was cut into chunks', () => {
  const words = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '<', '>') });
  fc.assert(
    fc.property(words, words, (thought, text) => {
      const { isThinking, ...parsed } = parseAnswer(`<think>${thought}</think>${text}`);
      expect(isThinking).toBe(false);
      expect(parsed).toEqual({ thought: thought.trim(), text: text.trimStart() });
    }),
  );
});

import { describe, expect, it } from 'vitest';

import { repeatsItself } from './repeats-itself.ts';

const BEGINNING = 'Rex was a dog who lived in a small house by the sea. ';

describe('a text repeats itself', () => {
  it.each([
    ['a sentence', ' I’m glad you enjoyed the story of Rex.', 7],
    ['a line', 'Lighthouse keeper:\n', 13],
    ['a word', 'very ', 48],
    [
      'a paragraph',
      `${'A story that is told once more, from its first word to its last. '.repeat(5)}\n\n`,
      4,
    ],
    ['a row of a list, unnumbered', '- Check the weather.\n', 12],
  ])('where it ends in %s again and again', (_, part, numTimes) => {
    const text = BEGINNING + part.repeat(numTimes);
    expect(repeatsItself(text)).toBe(true);
    expect(repeatsItself(text + part.slice(0, 3)), 'in the middle of the part').toBe(true);
    expect(repeatsItself(BEGINNING + part.repeat(3)), 'three times').toBe(false);
    expect(repeatsItself(`${text} And then it went on.`), 'and goes on').toBe(false);
  });
});

describe('a text doesn’t repeat itself', () => {
  const rows = Array.from({ length: 40 }, (_, index) => index + 1);
  it.each([
    ['a numbered list', rows.map((index) => `${index}. The same words in each line\n`).join('')],
    ['a table', `|${' --- |'.repeat(60)}\n${rows.map((index) => `| ${index} | yes | no |`).join('\n')}`],
    ['the head of a wide table', `|${' --- |'.repeat(80)}`],
    ['rows of zeros', '0, '.repeat(200)],
    ['a rule', '-'.repeat(600)],
    ['blank lines', `The end.${'\n'.repeat(400)}`],
    ['code', `${rows.map((index) => `  expect(sum(${index}, 1)).toBe(${index + 1});\n`).join('')}});\n`],
    ['closed tags', '    </div>\n'.repeat(8)],
    ['a chorus', `${'Row, row, row your boat, gently down the stream.\n'.repeat(3)}Life is but a dream.`],
    ['nothing', ''],
  ])('in %s', (_, text) => {
    expect(repeatsItself(text)).toBe(false);
  });

  it('at any place of a text without a loop', () => {
    const text = rows.map((index) => `${index} birds sat on the wire, and one flew away.\n`).join('');
    for (let end = 0; end < text.length; end++) expect(repeatsItself(text.slice(0, end))).toBe(false);
  });
});

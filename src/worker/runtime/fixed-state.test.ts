import { beforeAll, describe, expect, it } from 'vitest';
import type { BatchingPolicy } from '../../batching/generation/policy.ts';
import { GREEDY, type TokenConstraint } from '../../batching/generation/request.ts';
import { allowToken, emptyMask, type TokenMask } from '../../batching/sampling/token-mask.ts';
import { HybridEngine, hybridRequest, plainText, promptOf, type Token } from '../testing/hybrid-engine.ts';

// One layer of the model keeps a fixed size of a row, which each token changes. A text is right if it is the one that its whole
// sequence gives when all of it is computed anew for each token, to the bit.

/** Bytes of two tokens of 24 values, and of the keys and values of two heads of 6. */
const BYTES = { perRow: 2 * 24 * 4, perToken: 2 * 2 * 6 * 4 };

function rowBytes(numTokens: number): number {
  return BYTES.perRow + numTokens * BYTES.perToken;
}

/** Of unequal lengths, two of one length, one in the background, which end one after the other. */
const REQUESTS = [
  hybridRequest('a', promptOf(1, 1), { maxNewTokens: 14 }),
  hybridRequest('b', promptOf(2, 5), { maxNewTokens: 3 }),
  hybridRequest('c', promptOf(3, 5), { maxNewTokens: 9, isBackground: true }),
  hybridRequest('d', promptOf(4, 12), { maxNewTokens: 6 }),
  hybridRequest('e', promptOf(5, 40), { maxNewTokens: 12 }),
  hybridRequest('f', promptOf(6, 23), { maxNewTokens: 4 }),
] as const;

const POLICIES: readonly (readonly [string, Partial<BatchingPolicy>])[] = [
  ['one by one', { policy: 'off' }],
  ['in static batches', { policy: 'static', maxBatchSize: 3 }],
  ['together', {}],
  ['in chunks, three at a time', { maxBatchedTokens: 7, maxBatchSize: 3 }],
  ['without prefixes', { prefixCaching: false }],
];

describe('texts of rows with fixed state', () => {
  let expected: readonly (readonly Token[])[];

  beforeAll(async () => {
    expected = await Promise.all(REQUESTS.map((request) => plainText(request)));
  });

  it.each(POLICIES)('are right %s', async (_, policy) => {
    expect(await new HybridEngine(policy).run(...REQUESTS)).toEqual(expected);
  });

  it('are right where requests join and leave, and are cancelled', async () => {
    const hybrid = new HybridEngine();
    const [a, b, c, d, e, f] = REQUESTS;
    hybrid.engine.submitAll([e, b, c]);
    await hybrid.until(() => hybrid.of(e).length >= 2);
    hybrid.engine.abortAll([b.id]);
    hybrid.engine.submitAll([a, f]);
    await hybrid.until(() => hybrid.of(a).length >= 3);
    const texts = await hybrid.run(d);
    expect([...(await hybrid.end(a, c)), ...texts, ...(await hybrid.end(e, f))]).toEqual(
      expected.filter((_text, i) => REQUESTS[i] !== b),
    );
  });

  it.each([1, 2])('go on in another engine after %i tokens', async (numTokens) => {
    const lost = new HybridEngine();
    lost.engine.submitAll(REQUESTS);
    await lost.until(() => REQUESTS.every((request) => lost.of(request).length >= numTokens));
    const resumed = REQUESTS.map((request) => {
      const tokens = lost.of(request).slice(0, request.maxNewTokens - 1);
      return { ...request, resumedTokenIds: tokens.map(({ tokenId }) => tokenId) };
    });
    await lost.engine.close();
    const texts = await new HybridEngine().run(...resumed);
    expect(texts).toEqual(expected.map((text, i) => text.slice(resumed[i]?.resumedTokenIds.length)));
  });

  it('are right where a constraint forces several tokens, which are computed in one pass', async () => {
    const sampling = { ...GREEDY, temperature: 1, seed: 3 };
    const constrained = hybridRequest('j', promptOf(7, 9), {
      sampling,
      constraint: forcing([5, 9, 40, 2, 2, 31]),
    });
    const text = await plainText(constrained, forcing([5, 9, 40, 2, 2, 31]));
    const hybrid = new HybridEngine();
    expect(await hybrid.run(constrained)).toEqual([text]);
    const jumped = hybrid.steps.filter(({ kind, numTokens }) => kind === 'prefill' && numTokens === 6);
    expect(jumped).toHaveLength(1);
  });
});

describe('a row with fixed state is taken over', () => {
  const first = hybridRequest('p', promptOf(8, 40), { maxNewTokens: 8 });

  /** A turn that begins with this many tokens of the sequence that has ended. */
  async function continued(numTokens: number) {
    const hybrid = new HybridEngine();
    const [text = []] = await hybrid.run(first);
    const tokenIds = [...first.promptTokenIds, ...text.map(({ tokenId }) => tokenId)];
    const turn = hybridRequest('q', [...tokenIds.slice(0, numTokens), ...promptOf(9, 6)]);
    expect(await hybrid.run(turn)).toEqual([await plainText(turn)]);
    return hybrid.numReusedBy(turn);
  }

  it('by a turn that begins with all that it has read, which the last token is not', async () => {
    expect(await continued(48)).toBe(47);
  });

  it.each([46, 40, 35])('by none that begins with %i of its 47 tokens', async (numTokens) => {
    expect(await continued(numTokens)).toBe(0);
  });

  it('up to a snapshot by a text that branches off as another one before it', async () => {
    const hybrid = new HybridEngine();
    await hybrid.run(first);
    const [second, third] = [20, 21].map((seed) =>
      hybridRequest(`${seed}`, [...first.promptTokenIds, ...promptOf(seed, 6)]),
    );
    if (!second || !third) throw new Error('Expected texts');
    for (const [text, numReused] of [
      [second, 0],
      [third, 40],
    ] as const) {
      expect(await hybrid.run(text)).toEqual([await plainText(text)]);
      expect(hybrid.numReusedBy(text)).toBe(numReused);
    }
  });

  it('by none after a step behind another has read a token that was dropped', async () => {
    const stopped = hybridRequest('s', promptOf(10, 40));
    const text = await plainText(stopped);
    const at = text.findIndex(
      ({ tokenId }, i) => i > 2 && text.findIndex((other) => other.tokenId === tokenId) === i,
    );
    const stop = text[at]?.tokenId ?? 0;
    const hybrid = new HybridEngine();
    await hybrid.run({ ...stopped, stopTokenIds: [stop] });
    const ids = text.slice(0, at).map(({ tokenId }) => tokenId);
    const turn = hybridRequest('t', [...stopped.promptTokenIds, ...ids, stop, ...promptOf(11, 5)]);
    expect(await hybrid.run(turn)).toEqual([await plainText(turn)]);
  });

  it('by none where less memory has cut it', async () => {
    const hybrid = new HybridEngine();
    const running = hybridRequest('u', promptOf(14, 34), { maxNewTokens: 12 });
    const long = hybridRequest('v', promptOf(8, 100), { maxNewTokens: 3 });
    hybrid.engine.submitAll([running]);
    await hybrid.until(() => hybrid.of(running).length > 0);
    await hybrid.run(long);
    // Rows of 112 tokens don't fit any more, but three slots and a staging row of 48 do, which is what the running one needs.
    hybrid.engine.configure({ kvCacheMemoryBytes: 4 * rowBytes(48) });
    const turn = hybridRequest('w', [...long.promptTokenIds.slice(0, 48), ...promptOf(15, 5)]);
    const expected = await Promise.all([turn, running].map((request) => plainText(request)));
    hybrid.engine.submitAll([turn]);
    expect(await hybrid.end(turn, running)).toEqual(expected);
    expect(hybrid.numReusedBy(turn)).toBe(0);
  });
});

describe('the memory of rows with fixed state', () => {
  it('is that of each row and of each of its tokens', async () => {
    const hybrid = new HybridEngine();
    const request = hybridRequest('m', promptOf(12, 20));
    hybrid.engine.submitAll([request]);
    await hybrid.until(() => hybrid.of(request).length === 3);
    // Four slots and a staging row, which grow by 16 tokens, and four snapshots.
    expect(hybrid.engine.kvUsage.reservedBytes).toBe(5 * rowBytes(32) + 4 * BYTES.perRow);
    expect(hybrid.engine.kvUsage.usedBytes).toBe(rowBytes(22));
    await hybrid.end(request);
  });

  it('is refused by the bytes that one row would need', async () => {
    const least = 2 * rowBytes(16);
    const request = hybridRequest('n', promptOf(13, 6));
    const tooSmall = new HybridEngine({ kvCacheMemoryBytes: least - 1 });
    expect(() => tooSmall.engine.submitAll([request])).toThrow(
      expect.objectContaining({ code: 'KV_BUDGET' }),
    );
    const enough = new HybridEngine({ kvCacheMemoryBytes: least });
    expect(await enough.run(request)).toEqual([await plainText(request)]);
  });
});

/** Allows any two tokens, and then these alone, in order. */
function forcing(tokenIds: readonly number[]): TokenConstraint {
  let numAccepted = 0;
  const forced = (): readonly number[] => (numAccepted < 2 ? [] : tokenIds.slice(numAccepted - 2));
  return {
    accept: () => {
      numAccepted += 1;
      return false;
    },
    mask(): TokenMask | undefined {
      const [next] = forced();
      if (next === undefined) return undefined;
      const mask = emptyMask(48);
      allowToken(mask, next);
      return mask;
    },
    forced,
  };
}

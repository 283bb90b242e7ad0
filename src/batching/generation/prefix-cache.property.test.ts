import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_SIZE, chainedHash, HashedTokens } from './hashed-tokens.ts';
import { kvSlot } from './kv-slots.ts';
import { longestOf, PrefixCache, type CachedPrefix } from './prefix-cache.ts';
import { runsOf } from '../testing/whole-run.ts';

const NUM_RUNS = runsOf({ whole: 2000, part: 400 });
const NUM_SLOTS = 6;

/** The plain search and cache: every row keeps a copy of its tokens, and all of them are compared. */
class PlainCache {
  readonly #rows = new Map<number, { tokenIds: readonly number[]; lastUse: number }>();
  #numUses = 0;

  keep(slot: number, tokenIds: readonly number[]): void {
    if (tokenIds.length === 0) return;
    this.#numUses += 1;
    this.#rows.set(slot, { tokenIds, lastUse: this.#numUses });
  }

  truncate(numSlots: number, capacity: number): void {
    for (const [slot, row] of this.#rows) {
      if (slot >= numSlots) this.#rows.delete(slot);
      else row.tokenIds = row.tokenIds.slice(0, capacity);
    }
  }

  takeOver(slot: number, tokenIds: readonly number[]): void {
    const row = this.#rows.get(slot);
    if (!row) return;
    this.#numUses += 1;
    const isWhole = numShared(row.tokenIds, tokenIds) === row.tokenIds.length;
    row.lastUse = isWhole ? 0 : this.#numUses;
  }

  rescue(slot: number, free: readonly number[]): number | undefined {
    const row = this.#rows.get(slot);
    this.#rows.delete(slot);
    if (!row || row.lastUse === 0) return undefined;
    const lastUseOf = (other: number): number => this.#rows.get(other)?.lastUse ?? -1;
    const [victim] = free.filter((other) => other !== slot).toSorted((a, b) => lastUseOf(a) - lastUseOf(b));
    if (victim === undefined || lastUseOf(victim) > row.lastUse) return undefined;
    this.#rows.set(victim, row);
    return victim;
  }

  longest(
    tokenIds: readonly number[],
    live: readonly (readonly [number, readonly number[]])[],
  ): CachedPrefix | undefined {
    const cached = [...this.#rows].map(([slot, row]) => [slot, row.tokenIds] as const);
    let longest: CachedPrefix | undefined;
    for (const [slot, held] of [...cached, ...live]) {
      const length = numShared(held, tokenIds);
      if (length > (longest?.length ?? 0)) longest = { slot: kvSlot(slot), length };
    }
    return longest;
  }
}

function numShared(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((tokenId, at) => tokenId !== b[at]);
  return index === -1 ? Math.min(a.length, b.length) : index;
}

function hashOf(ids: readonly number[]): number {
  return ids.reduce(chainedHash, 0);
}

/** Two full blocks that differ and have one hash, behind the same tokens. */
function createCollision(before: readonly number[], seed: number): readonly [number[], number[]] {
  const first = Array.from({ length: BLOCK_SIZE }, (_, index) => seed + index);
  const second = [...first];
  second[0] = seed + 1000;
  const [a, b] = [first, second].map((block) => hashOf([...before, ...block.slice(0, -1)]));
  second[BLOCK_SIZE - 1] = (first.at(-1) ?? 0) ^ (a ?? 0) ^ (b ?? 0);
  return [first, second];
}

/** Lists that share long prefixes, and prefixes that end anywhere in a block. */
const tokenIds = fc
  .tuple(
    fc.array(fc.constantFrom(0, 1, 2), { maxLength: 3 }),
    fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 5 }),
    fc.nat({ max: 60 }),
  )
  .map(([families, tail, length]) => [
    ...families.flatMap((family) => Array.from({ length: BLOCK_SIZE + family }, () => family)),
    ...tail,
    ...Array.from({ length }, (_, index) => index),
  ]);

const slot = fc.nat({ max: NUM_SLOTS - 1 });
const command = fc.oneof(
  fc.record({ type: fc.constant('keep' as const), slot, tokenIds, numComputed: fc.nat({ max: 120 }) }),
  fc.record({ type: fc.constant('takeOver' as const), slot, tokenIds }),
  fc.record({ type: fc.constant('rescue' as const), slot, free: fc.uniqueArray(slot) }),
  fc.record({
    type: fc.constant('truncate' as const),
    numSlots: fc.integer({ min: 1, max: NUM_SLOTS }),
    capacity: fc.nat({ max: 120 }),
  }),
);

describe('the prefix that a sequence can reuse', () => {
  it('is the one that a comparison of all tokens finds, whatever was kept, taken over, moved or cut', () => {
    const live = fc.array(fc.record({ tokenIds, numComputed: fc.nat({ max: 120 }) }), { maxLength: 4 });
    const property = fc.property(
      fc.array(command, { maxLength: 20 }),
      live,
      tokenIds,
      (commands, rows, wanted) => {
        const [cache, plain] = [new PrefixCache(), new PlainCache()];
        const [rescued, plainlyRescued]: [unknown[], unknown[]] = [[], []];
        for (const each of commands) {
          if (each.type === 'keep') {
            const numComputedTokens = Math.min(each.numComputed, each.tokenIds.length);
            cache.keep({
              slot: kvSlot(each.slot),
              tokens: new HashedTokens(each.tokenIds),
              numComputedTokens,
              numStartedTokens: numComputedTokens,
            });
            plain.keep(each.slot, each.tokenIds.slice(0, numComputedTokens));
          } else if (each.type === 'takeOver') {
            cache.takeOver(kvSlot(each.slot), new HashedTokens(each.tokenIds));
            plain.takeOver(each.slot, each.tokenIds);
          } else if (each.type === 'rescue') {
            rescued.push(cache.rescue(kvSlot(each.slot), each.free.map(kvSlot)));
            plainlyRescued.push(plain.rescue(each.slot, each.free));
          } else {
            cache.truncate(each);
            plain.truncate(each.numSlots, each.capacity);
          }
        }
        const decoding = rows.map(({ tokenIds: ids, numComputed }, index) => ({
          slot: kvSlot(NUM_SLOTS + index),
          tokens: new HashedTokens(ids),
          numComputedTokens: Math.min(numComputed, ids.length),
        }));
        const plainRows = rows.map(
          ({ tokenIds: ids, numComputed }, index) => [NUM_SLOTS + index, ids.slice(0, numComputed)] as const,
        );
        expect(rescued).toEqual(plainlyRescued);
        expect(longestOf(new HashedTokens(wanted), [...cache.rows, ...decoding])).toEqual(
          plain.longest(wanted, plainRows),
        );
      },
    );
    fc.assert(property, { numRuns: NUM_RUNS });
  });

  it('is right where hashes collide', () => {
    const property = fc.property(tokenIds, fc.nat(), fc.nat({ max: 40 }), (start, seed, numMore) => {
      const before = start.slice(0, start.length - (start.length % BLOCK_SIZE));
      const [first, second] = createCollision(before, seed);
      const more = Array.from({ length: numMore }, (_, index) => index);
      const wanted = [...before, ...first, ...more];
      const rows = [[...before, ...second, ...more], [...before, ...first.slice(0, 3)], before].map(
        (ids, index) => ({
          slot: kvSlot(index),
          tokens: new HashedTokens(ids),
          numComputedTokens: ids.length,
        }),
      );
      expect(rows[0]?.tokens.mayShare(new HashedTokens(wanted), before.length + BLOCK_SIZE)).toBe(true);
      expect(longestOf(new HashedTokens(wanted), rows)).toEqual({
        slot: kvSlot(1),
        length: before.length + 3,
      });
    });
    fc.assert(property, { numRuns: NUM_RUNS });
  });

  it('is found in tokens that have grown since they were last hashed', () => {
    const tokens = new HashedTokens([]);
    const row = { slot: kvSlot(0), tokens, numComputedTokens: 0 };
    for (let length = 1; length <= 100; length++) {
      tokens.push(length);
      row.numComputedTokens = length;
      const wanted = new HashedTokens(Array.from({ length: 70 }, (_, index) => index + 1));
      expect(longestOf(wanted, [row])?.length).toBe(Math.min(length, 70));
    }
  });
});

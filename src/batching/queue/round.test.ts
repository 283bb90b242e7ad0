import { describe, expect, it } from 'vitest';
import { Round } from './round.ts';

function createRound(...names: readonly string[]) {
  const round = new Round<{ readonly name: string }>();
  const members = names.map((name) => ({ name }));
  for (const member of members) round.add(member);
  /** All names in order; the round is left empty. */
  const takeAll = (): string[] => {
    const taken: string[] = [];
    for (let { first } = round; first; { first } = round) {
      taken.push(first.name);
      round.remove(first);
    }
    return taken;
  };
  return { round, members, takeAll };
}

describe('Round', () => {
  it('keeps members in the order in which they came', () => {
    const { round, takeAll } = createRound('a', 'b', 'c');
    expect(round.size).toBe(3);
    expect(takeAll()).toEqual(['a', 'b', 'c']);
    expect(round.size).toBe(0);
  });

  it.each([
    ['the first', 0, ['b', 'c']],
    ['one in the middle', 1, ['a', 'c']],
    ['the last', 2, ['a', 'b']],
  ])('removes %s, whether the first was looked at or not', (_, index, left) => {
    for (const isSeen of [true, false]) {
      const { round, members, takeAll } = createRound('a', 'b', 'c');
      expect(isSeen ? round.first?.name : 'a').toBe('a');
      for (const member of members.slice(index, index + 1)) round.remove(member);
      expect(takeAll()).toEqual(left);
    }
  });

  it('is empty, and can be filled again, after its last member has gone', () => {
    const { round, takeAll } = createRound('a');
    expect(takeAll()).toEqual(['a']);
    expect(round.first).toBeUndefined();
    round.rotate();
    round.add({ name: 'b' });
    expect(takeAll()).toEqual(['b']);
  });

  it('moves the first to the end, again and again', () => {
    const { round, takeAll } = createRound('a', 'b', 'c');
    const seen = Array.from({ length: 7 }, () => {
      const name = round.first?.name;
      round.rotate();
      return name;
    });
    expect(seen).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a']);
    round.add({ name: 'd' });
    expect(takeAll()).toEqual(['b', 'c', 'a', 'd']);
  });
});

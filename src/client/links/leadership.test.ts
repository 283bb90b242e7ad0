import { describe, expect, it } from 'vitest';
import { settle } from '../../batching/generation/test-support.ts';
import { Leadership } from './leadership.ts';
import { namesOf } from '../../protocol/names.ts';
import { FakeLocks } from '../../worker/test-support.ts';

const LEADER_LOCK = namesOf().leaderLock;

function createCandidates(...names: string[]) {
  const locks = new FakeLocks();
  const log: string[] = [];
  const candidates = names.map(
    (name) =>
      new Leadership(locks, LEADER_LOCK, {
        onElected: () => log.push(`${name} elected`),
        onResigned: () => log.push(`${name} resigned`),
      }),
  );
  return { locks, log, candidates };
}

describe('Leadership', () => {
  it('goes to the first in the queue, and to the next when that one resigns', async () => {
    const { log, candidates } = createCandidates('a', 'b');
    for (const candidate of candidates) candidate.contend();
    await settle();
    expect(log).toEqual(['a elected']);
    candidates[0]?.resign();
    await settle();
    expect(log).toEqual(['a elected', 'a resigned', 'b elected']);
  });

  it('is contended for once, however often it is asked for', async () => {
    const { locks, log, candidates } = createCandidates('a');
    const [a] = candidates;
    a?.contend();
    a?.contend();
    await settle();
    a?.contend();
    await settle();
    expect(log).toEqual(['a elected']);
    a?.resign();
    await settle();
    expect(locks.names).toEqual([]);
  });

  it('passes by whoever leaves the queue, who hears nothing of it', async () => {
    const { locks, log, candidates } = createCandidates('a');
    const release = locks.hold(LEADER_LOCK);
    candidates[0]?.contend();
    await settle();
    candidates[0]?.resign();
    await settle();
    expect(locks.queueLength(LEADER_LOCK)).toBe(1);
    release();
    await settle();
    expect(log).toEqual([]);
    expect(locks.names).toEqual([]);
  });

  it('passes by whoever withdraws in the moment of the grant', async () => {
    const { log, candidates } = createCandidates('a', 'b');
    const [a, b] = candidates;
    a?.contend();
    a?.resign();
    b?.contend();
    await settle();
    expect(log).toEqual(['b elected']);
  });

  it('can be had again after a resignation, behind those who queue', async () => {
    const { log, candidates } = createCandidates('a', 'b');
    const [a, b] = candidates;
    a?.contend();
    b?.contend();
    await settle();
    a?.resign();
    a?.contend();
    await settle();
    b?.resign();
    await settle();
    expect(log).toEqual(['a elected', 'a resigned', 'b elected', 'b resigned', 'a elected']);
  });

  it('has nothing to give up without a candidacy', () => {
    const { log, candidates } = createCandidates('a');
    candidates[0]?.resign();
    expect(log).toEqual([]);
  });

  it('is given up before the next one has it', async () => {
    const locks = new FakeLocks();
    const heldAtEnd: boolean[] = [];
    const leadership = new Leadership(locks, LEADER_LOCK, {
      onElected: () => {},
      onResigned: () => heldAtEnd.push(locks.isHeld(LEADER_LOCK)),
    });
    leadership.contend();
    await settle();
    leadership.resign();
    expect(heldAtEnd).toEqual([true]);
    await settle();
    expect(locks.isHeld(LEADER_LOCK)).toBe(false);
  });
});

import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { FakeClock } from '../../batching/testing/fake-clock.ts';
import { clientId, requestId } from '../../batching/generation/test-support.ts';
import type { ClientId } from '../../protocol/ids.ts';
import type { RequestUpdate } from '../../protocol/requests.ts';
import { PacedUpdates } from './request-router.ts';

const [A, B] = [clientId('a'), clientId('b')];
const ID = requestId('r');

const token = (tokenId: number): RequestUpdate => ({
  type: 'chunk',
  requestId: ID,
  index: 0,
  text: '',
  tokenIds: [tokenId],
});
const firstToken = (tokenId: number): RequestUpdate => ({
  type: 'chunk',
  requestId: ID,
  index: 0,
  text: '',
  tokenIds: [tokenId],
  ttftMs: 1,
});
const started: RequestUpdate = {
  type: 'started',
  requestId: ID,
  queueWaitMs: 0,
  model: { id: 'm', backend: 'wasm', precision: 'fp32' },
};
const failed: RequestUpdate = { type: 'failed', requestId: ID, error: { code: 'X', message: 'its own' } };

interface Sent {
  readonly atMs: number;
  readonly to: ClientId;
  readonly updates: readonly RequestUpdate[];
}

function createPaced() {
  const clock = new FakeClock();
  const sent: Sent[] = [];
  const paced = new PacedUpdates(clock, (to, updates) => sent.push({ atMs: clock.now(), to, updates }));
  return { clock, sent, paced };
}

const idsOf = (sent: readonly Sent[]): readonly (readonly number[])[] =>
  sent.map(({ updates }) => updates.flatMap((update) => (update.type === 'chunk' ? update.tokenIds : [])));

it('sends tokens of short steps together, at most every 33 ms', () => {
  const { clock, sent, paced } = createPaced();
  for (let step = 0; step < 100; step += 1) {
    paced.post(A, [token(step)]);
    clock.advance(2);
  }
  clock.advance(100);
  expect(sent.length).toBeLessThanOrEqual(8);
  expect(idsOf(sent).flat()).toEqual(Array.from({ length: 100 }, (_, step) => step));
});

it('sends each token at once when a step takes longer', () => {
  const { clock, sent, paced } = createPaced();
  for (let step = 0; step < 5; step += 1) {
    paced.post(A, [token(step)]);
    clock.advance(40);
  }
  expect(sent.map(({ atMs }) => atMs - (sent[0]?.atMs ?? 0))).toEqual([0, 40, 80, 120, 160]);
});

it.each([
  ['first token', firstToken(2)],
  ['start', started],
  ['failure', failed],
])('sends a %s at once, after the held tokens', (_, urgent) => {
  const { clock, sent, paced } = createPaced();
  paced.post(A, [token(0)]);
  clock.advance(1);
  paced.post(A, [token(1)]);
  expect(sent).toHaveLength(1);
  paced.post(A, [urgent]);
  expect(sent.at(-1)?.updates).toEqual([token(1), urgent]);
});

it('sends a held token after 33 ms, even if no other comes, and then keeps no timer', () => {
  const { clock, sent, paced } = createPaced();
  paced.post(A, [token(0)]);
  clock.advance(10);
  paced.post(A, [token(1)]);
  clock.advance(22);
  expect(sent).toHaveLength(1);
  clock.advance(1);
  expect(idsOf(sent)).toEqual([[0], [1]]);
  clock.advance(33);
  expect(clock.pendingTimers).toBe(0);
});

it('counts the 33 ms from the last message, whatever it held', () => {
  const { clock, sent, paced } = createPaced();
  paced.post(A, [token(0)]);
  clock.advance(20);
  paced.post(A, [firstToken(1)]);
  paced.post(A, [token(2)]);
  clock.advance(32);
  expect(idsOf(sent)).toEqual([[0], [1]]);
  clock.advance(1);
  expect(idsOf(sent)).toEqual([[0], [1], [2]]);
});

it('sends held tokens with the next one when the browser delays timers', () => {
  const clock = new FakeClock();
  const sent: (readonly RequestUpdate[])[] = [];
  const withoutTimers = { now: () => clock.now(), setTimer: () => () => {} };
  const paced = new PacedUpdates(withoutTimers, (_, updates) => sent.push(updates));
  for (const tokenId of [0, 1, 2]) {
    paced.post(A, [token(tokenId)]);
    clock.advance(20);
  }
  expect(sent).toEqual([[token(0)], [token(1), token(2)]]);
});

it('never makes one client wait for another', () => {
  const { sent, paced } = createPaced();
  paced.post(A, [token(0)]);
  paced.post(B, [token(1)]);
  expect(sent.map(({ to }) => to)).toEqual([A, B]);
});

it('sends all held tokens when it is flushed', () => {
  const { sent, paced } = createPaced();
  for (const client of [A, B]) {
    paced.post(client, [token(0)]);
    paced.post(client, [token(1)]);
  }
  expect(sent).toHaveLength(2);
  paced.flush();
  expect(idsOf(sent)).toEqual([[0], [0], [1], [1]]);
});

const posts = fc.array(
  fc.record({
    client: fc.constantFrom(A, B),
    urgent: fc.boolean(),
    pauseMs: fc.nat({ max: 50 }),
    isFlushed: fc.boolean(),
  }),
);

it('sends each client everything once, in order, none later than 33 ms', () => {
  fc.assert(
    fc.property(posts, (steps) => {
      const { clock, sent, paced } = createPaced();
      const postedAt: number[] = [];
      for (const [step, { client, urgent, pauseMs, isFlushed }] of steps.entries()) {
        postedAt.push(clock.now());
        paced.post(client, [urgent ? firstToken(step) : token(step)]);
        if (isFlushed) paced.flush();
        clock.advance(pauseMs);
      }
      clock.advance(33);
      for (const client of [A, B]) {
        const own = sent.filter(({ to }) => to === client);
        const posted = steps.flatMap((step, index) => (step.client === client ? [index] : []));
        expect(idsOf(own).flat()).toEqual(posted);
        for (const { atMs, updates } of own)
          for (const id of idsOf([{ atMs, to: client, updates }]).flat())
            expect(atMs - (postedAt[id] ?? 0)).toBeLessThanOrEqual(33);
      }
    }),
  );
});

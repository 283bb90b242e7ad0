import { describe, expect, it } from 'vitest';
import { RequestQueue, type Queued, type TurnOwner } from './request-queue.ts';
import { clientId, requestId } from '../generation/test-support.ts';

/**
 * Names are client, number and priority: `a1` is the first request of client a, `a1:-5` one of priority -5. With slashes a name
 * says whose turn it is: `a/k/t/1` is the first request of turn t of caller k of client a.
 */
function createQueue(...names: readonly string[]) {
  const queue = new RequestQueue<Queued>();
  const add = (name: string): void => {
    const [, priority] = name.split(':');
    const urgency = priority === undefined ? {} : { priority: Number(priority) };
    queue.add({ id: requestId(name), ...ownerOf(name), ...urgency });
  };
  names.forEach(add);
  const takeAll = (): string[] => {
    const taken: string[] = [];
    for (let next = queue.take(); next; next = queue.take()) taken.push(next.id);
    return taken;
  };
  return { queue, add, takeAll };
}

function ownerOf(name: string): TurnOwner {
  const turn = name.split('/').slice(1, -1);
  return { clientId: clientId(name.charAt(0)), ...(turn.length > 0 && { turn }) };
}

/** `a/t/0`, `a/t/1`, … */
function namesIn(turn: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${turn}/${index}`);
}

describe('RequestQueue', () => {
  it('serves one client first come, first served', () => {
    expect(createQueue('a1', 'a2', 'a3').takeAll()).toEqual(['a1', 'a2', 'a3']);
  });

  it('serves clients in turn, whatever the length of their queues', () => {
    const { takeAll } = createQueue('a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2');
    expect(takeAll()).toEqual(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4']);
  });

  it('serves a newcomer within two turns of a client that floods', () => {
    const { queue, add } = createQueue(...Array.from({ length: 500 }, (_, index) => `a${index}`));
    queue.take();
    add('b1');
    expect([queue.take()?.id, queue.take()?.id]).toEqual(['a1', 'b1']);
  });

  it('puts a client that comes back at the end of the round', () => {
    const { queue, add } = createQueue('a1', 'b1', 'b2', 'c1');
    expect(queue.take()?.id).toBe('a1');
    add('a2');
    expect([queue.take()?.id, queue.take()?.id, queue.take()?.id]).toEqual(['b1', 'c1', 'a2']);
  });

  it('serves the rest of what has begun before the others of its priority, the background last', () => {
    const { queue, add, takeAll } = createQueue('a1', 'b1', 'c1:-1');
    const background = { clientId: clientId('j'), isBackground: true };
    queue.add({ id: requestId('j1'), ...background });
    queue.add({ id: requestId('j2'), ...background, isNext: true });
    queue.add({ id: requestId('b2'), clientId: clientId('b'), isNext: true });
    add('d1');
    expect(takeAll()).toEqual(['c1:-1', 'b2', 'a1', 'b1', 'd1', 'j2', 'j1']);
  });

  it('serves a lower priority first, whoever came first; none is 0', () => {
    const { takeAll } = createQueue('a1:5', 'b1', 'a2:-3', 'a3:0', 'b2:-3', 'c1:5');
    expect(takeAll()).toEqual(['a2:-3', 'b2:-3', 'b1', 'a3:0', 'a1:5', 'c1:5']);
  });

  it('serves clients in turn within a priority', () => {
    const { takeAll } = createQueue('a1:1', 'a2:1', 'a3:1', 'b1:1', 'b2', 'b3', 'a4');
    expect(takeAll()).toEqual(['b2', 'a4', 'b3', 'a1:1', 'b1:1', 'a2:1', 'a3:1']);
  });

  it('looks at the priorities anew with each request', () => {
    const { queue, add, takeAll } = createQueue('a1:1', 'a2:2');
    expect(queue.take()?.id).toBe('a1:1');
    add('a3:-1');
    add('b1:2');
    expect(queue.take()?.id).toBe('a3:-1');
    add('a4:1');
    queue.remove(requestId('a4:1'));
    expect(takeAll()).toEqual(['a2:2', 'b1:2']);
  });

  it('leaves out what was removed, at the head, inside and at the end', () => {
    const { queue, takeAll } = createQueue('a1', 'a2', 'a3', 'a4', 'b1');
    for (const name of ['a1', 'a3', 'b1']) expect(queue.remove(requestId(name))?.id).toBe(name);
    expect(queue.length).toBe(2);
    expect(queue.all.map(({ id }) => id)).toEqual(['a2', 'a4']);
    expect(takeAll()).toEqual(['a2', 'a4']);
  });

  it('tells who has waited longest, whatever its turn', () => {
    const { queue } = createQueue('a1', 'a2', 'b1');
    expect(queue.oldest?.id).toBe('a1');
    expect(createQueue('a1:5', 'b1:-5').queue.oldest?.id).toBe('a1:5');
    queue.remove(requestId('a1'));
    expect(queue.oldest?.id).toBe('a2');
    queue.take();
    expect(queue.take()?.id).toBe('b1');
    expect(queue.oldest).toBeUndefined();
  });

  it('knows which requests it holds', () => {
    const { queue } = createQueue('a1');
    expect(queue.has(requestId('a1'))).toBe(true);
    expect(queue.has(requestId('a2'))).toBe(false);
    expect(queue.remove(requestId('a2'))).toBeUndefined();
    queue.take();
    expect(queue.has(requestId('a1'))).toBe(false);
    expect(queue.take()).toBeUndefined();
  });

  it('has room for a lone client up to the maximum', () => {
    const { queue, add } = createQueue('a1', 'a2');
    expect(queue.limitFor({ clientId: clientId('a') }, 3)).toBeUndefined();
    add('a3');
    expect(queue.limitFor({ clientId: clientId('a') }, 3)).toEqual({
      numQueuedRequests: 3,
      maxQueuedRequests: 3,
      numMissing: 1,
    });
  });

  it('always has room for the first request of a client, whoever floods it', () => {
    const { queue, add } = createQueue('a1', 'a2', 'a3', 'a4');
    expect(queue.limitFor({ clientId: clientId('b') }, 4)).toBeUndefined();
    add('b1');
    expect(queue.limitFor({ clientId: clientId('c') }, 4)).toBeUndefined();
  });

  it('shares the maximum between the clients that wait, and gives it back', () => {
    const { queue } = createQueue('a1', 'a2', 'b1');
    expect(queue.limitFor({ clientId: clientId('a') }, 4)).toEqual({
      numQueuedRequests: 2,
      maxQueuedRequests: 2,
      numMissing: 1,
    });
    expect(queue.limitFor({ clientId: clientId('b') }, 4)).toBeUndefined();
    queue.remove(requestId('b1'));
    expect(queue.limitFor({ clientId: clientId('a') }, 4)).toBeUndefined();
  });

  it('has room for several at once or for none of them', () => {
    const { queue } = createQueue('a1', 'a2');
    expect(queue.limitFor({ clientId: clientId('a') }, 4, 2)).toBeUndefined();
    expect(queue.limitFor({ clientId: clientId('a') }, 4, 3)).toEqual({
      numQueuedRequests: 2,
      maxQueuedRequests: 4,
      numMissing: 1,
    });
    expect(createQueue().queue.limitFor({ clientId: clientId('a') }, 4, 4)).toBeUndefined();
    expect(createQueue().queue.limitFor({ clientId: clientId('a') }, 4, 5)).toEqual({
      numQueuedRequests: 0,
      maxQueuedRequests: 4,
      numMissing: 1,
    });
  });

  it('has no place beyond a client’s share for the last of several, though its first one had one', () => {
    const { queue } = createQueue('a1', 'a2', 'a3', 'a4');
    expect(queue.limitFor({ clientId: clientId('b') }, 4, 1)).toBeUndefined();
    expect(queue.limitFor({ clientId: clientId('b') }, 4, 2)).toEqual({
      numQueuedRequests: 4,
      maxQueuedRequests: 4,
      numMissing: 2,
    });
    expect(queue.limitFor({ clientId: clientId('b') }, 8, 4)).toBeUndefined();
    expect(queue.limitFor({ clientId: clientId('b') }, 9, 5)).toBeUndefined();
    expect(queue.limitFor({ clientId: clientId('b') }, 10, 6)).toEqual({
      numQueuedRequests: 0,
      maxQueuedRequests: 5,
      numMissing: 1,
    });
  });

  it('counts a client’s requests of all priorities against its share', () => {
    const { queue } = createQueue('a1:1', 'a2:2', 'b1:3');
    expect(queue.limitFor({ clientId: clientId('a') }, 4)).toEqual({
      numQueuedRequests: 2,
      maxQueuedRequests: 2,
      numMissing: 1,
    });
    queue.remove(requestId('a1:1'));
    expect(queue.limitFor({ clientId: clientId('a') }, 4)).toBeUndefined();
  });

  it('keeps a client within its share out while others fill the rest', () => {
    const { queue } = createQueue('a1', 'a2', 'a3', 'a4', 'b1');
    expect(queue.limitFor({ clientId: clientId('b') }, 4)).toEqual({
      numQueuedRequests: 5,
      maxQueuedRequests: 4,
      numMissing: 2,
    });
  });

  it('lets the turns of a client go one after the other, whatever their sizes', () => {
    const { takeAll } = createQueue(...namesIn('a/big', 4), 'a/small/0', 'a/other/0', 'a/other/1');
    expect(takeAll()).toEqual([
      'a/big/0',
      'a/small/0',
      'a/other/0',
      'a/big/1',
      'a/other/1',
      'a/big/2',
      'a/big/3',
    ]);
  });

  it('lets a request start within two admissions of a turn of 992 of the same client', () => {
    const { queue, add } = createQueue(...namesIn('a/big', 992));
    queue.take();
    add('a/plain/0');
    expect([queue.take()?.id, queue.take()?.id]).toContain('a/plain/0');
  });

  it('gives the callers of a client equal turns, whatever the number of their requests', () => {
    const { takeAll } = createQueue('a/k/t/0', 'a/k/u/0', 'a/k/v/0', 'a/l/w/0', 'a/l/w/1', 'b/m/x/0');
    expect(takeAll()).toEqual(['a/k/t/0', 'b/m/x/0', 'a/l/w/0', 'a/k/u/0', 'a/l/w/1', 'a/k/v/0']);
  });

  it('gives a client that makes up callers no more turns than one that does not', () => {
    const { queue } = createQueue(
      ...Array.from({ length: 20 }, (_, index) => `a/made-up-${index}/t/0`),
      ...namesIn('b/only/t', 4),
    );
    const taken = Array.from({ length: 8 }, () => queue.take()?.id.charAt(0));
    expect(taken.filter((client) => client === 'b')).toHaveLength(4);
  });

  it('shares a client’s share between its callers', () => {
    const { queue } = createQueue(...namesIn('a/k/t', 5), 'a/l/u/0');
    expect(queue.limitFor(ownerOf('a/k/v/0'), 10)).toEqual({
      numQueuedRequests: 5,
      maxQueuedRequests: 5,
      numMissing: 1,
    });
    expect(queue.limitFor(ownerOf('a/l/v/0'), 10, 4)).toBeUndefined();
    expect(queue.limitFor(ownerOf('a/l/v/0'), 10, 5)).toEqual({
      numQueuedRequests: 6,
      maxQueuedRequests: 10,
      numMissing: 1,
    });
  });

  it('has room for new callers of a client that has filled the queue, but only for a sixteenth of its share', () => {
    const { queue, add } = createQueue(...namesIn('a/k/t', 32));
    expect(queue.limitFor(ownerOf('a/k/u/0'), 32)).toBeDefined();
    for (const caller of ['l', 'm']) {
      expect(queue.limitFor(ownerOf(`a/${caller}/u/0`), 32)).toBeUndefined();
      add(`a/${caller}/u/0`);
    }
    expect(queue.limitFor(ownerOf('a/n/u/0'), 32)).toBeDefined();
    expect(queue.limitFor(ownerOf('b/n/u/0'), 32)).toBeUndefined();
  });

  it('tells how many places are missing for several at once', () => {
    const { queue } = createQueue(...namesIn('a/t', 8));
    expect(queue.limitFor(ownerOf('a/u/0'), 10, 6)?.numMissing).toBe(4);
  });

  it('adds, takes and removes 100,000 requests in time that grows with their number, not its square', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `${'abcdefg'.charAt(index % 7)}${index}`);
    const { queue, takeAll } = createQueue(...names);
    for (const name of names.filter((_, index) => index % 2 === 0)) {
      queue.remove(requestId(name));
      expect(queue.oldest).toBeDefined();
    }
    expect(takeAll()).toHaveLength(50_000);
  });
});

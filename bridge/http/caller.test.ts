import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { callerOf, WorkLimit } from './caller.ts';
import * as fc from 'fast-check';
import type { Caller } from '../../src/protocol/requests.ts';

function ask(remoteAddress: string | undefined, headers: IncomingHttpHeaders = {}, user?: string) {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the fields that the caller is read from
  return callerOf({ socket: { remoteAddress }, headers } as IncomingMessage, user);
}

function withKey(key: string, user?: string) {
  return ask('192.0.2.7', { authorization: `Bearer ${key}` }, user);
}

describe('a caller', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.8.9.1', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
    ['2001:db8::6', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    [undefined, ''],
  ])('at %s is peer %s', (address, peer) => {
    expect(ask(address)).toEqual([peer, '', '']);
  });

  it('is told apart within its peer by its bearer token, and within that by its user', () => {
    expect(withKey('a')).toEqual(withKey('a'));
    expect(withKey('a')[1]).not.toBe(withKey('b')[1]);
    expect(withKey('a', 'ann').slice(0, 2)).toEqual(withKey('a', 'bob').slice(0, 2));
    expect(withKey('a', 'ann')[2]).not.toBe(withKey('a', 'bob')[2]);
  });

  it('keeps its key and its user to itself, and their length', () => {
    const [, key = '', user = ''] = ask('192.0.2.7', { authorization: 'Bearer secret' }, 'ann'.repeat(1000));
    expect(key).toMatch(/^[\da-f]{32}$/);
    expect(user).toMatch(/^[\da-f]{32}$/);
  });

  it('is not who a header says that it is', () => {
    expect(ask('192.0.2.7', { 'x-forwarded-for': '198.51.100.1', forwarded: 'for=198.51.100.1' })).toEqual(
      ask('192.0.2.7'),
    );
  });
});

const caller = (peer: string, key = ''): Caller => [peer, key, ''];

function createPlaces() {
  const places = new WorkLimit();
  /** True if the caller has got a place, which it keeps until `release` is called. */
  const take = async (client: Caller): Promise<(() => void) | undefined> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isRefused = false;
    places
      .run(client, () => promise)
      .catch(() => {
        isRefused = true;
      });
    await Promise.resolve();
    return isRefused ? undefined : resolve;
  };
  const takeAll = async (client: Caller): Promise<(() => void)[]> => {
    const held: (() => void)[] = [];
    for (let release = await take(client); release; release = await take(client)) held.push(release);
    return held;
  };
  return { take, takeAll };
}

describe('places for work', () => {
  it('are never all of one client: another key and another address find one', async () => {
    const { take, takeAll } = createPlaces();
    expect(await takeAll(caller('loopback', 'a'))).toHaveLength(384);
    expect(await take(caller('loopback', 'b'))).toBeDefined();
    expect(await take(caller('10.0.0.1'))).toBeDefined();
  });

  it('are never all of one address, however many keys it invents', async () => {
    const { take } = createPlaces();
    let numHeld = 0;
    while (await take(caller('10.0.0.1', `key ${numHeld}`))) numHeld += 1;
    expect(numHeld).toBe(448);
    expect(await take(caller('10.0.0.2'))).toBeDefined();
  });

  it('are fewer for a client as others come, and as many as before when they have ended', async () => {
    const { takeAll } = createPlaces();
    const [own, other] = [caller('10.0.0.1'), caller('10.0.0.2')];
    const held = [...(await takeAll(own)), ...(await takeAll(other))];
    for (const release of held.splice(0, 384)) release();
    await Promise.resolve();
    await Promise.resolve();
    const again = await takeAll(own);
    expect(again.length).toBeLessThan(384);
    for (const release of [...held, ...again]) release();
    await Promise.resolve();
    await Promise.resolve();
    expect(await takeAll(own)).toHaveLength(384);
  });

  it('are there for the first request of an address, however many greedy ones there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 60 }), async (numGreedy) => {
        const { take, takeAll } = createPlaces();
        for (let index = 0; index < numGreedy; index++) await takeAll(caller(`10.0.0.${index}`));
        expect(await take(caller('newcomer'))).toBeDefined();
      }),
      { numRuns: 20 },
    );
  });

  it('say how many there are to whom they are refused', async () => {
    const places = new WorkLimit();
    const forever = new Promise<void>(() => {});
    for (let index = 0; index < 384; index++) void places.run(caller('a'), () => forever);
    await expect(places.run(caller('a'), () => forever)).rejects.toMatchObject({
      status: 429,
      code: 'TOO_MANY_REQUESTS',
      message: expect.stringContaining('384 from this client'),
    });
  });
});

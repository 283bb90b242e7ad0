import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { Caller } from '../../src/protocol/requests.ts';
import { WorkLimit } from './work-limit.ts';

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

import { expect, it, vi } from 'vitest';
import { connect } from '../client/index.ts';
import type * as Client from '../client/index.ts';
import { shareClient } from './use-tabserve.ts';

vi.mock('../client/index.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof Client>()),
  connect: vi.fn<() => unknown>(),
}));

const worker = (): Worker => {
  throw new Error('No tab leads here.');
};

/** Each call of `connect` gives a client of its own. */
function countClients() {
  const clients: { close: () => void; isClosed: boolean }[] = [];
  vi.mocked(connect).mockImplementation(() => {
    const client = { isClosed: false, close: () => void (client.isClosed = true) };
    clients.push(client);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only `close` is called
    return Promise.resolve(client as unknown as Client.TabserveClient);
  });
  return clients;
}

/** After all microtasks. */
async function turn(): Promise<void> {
  for (let i = 0; i < 4; i++) await Promise.resolve();
}

it('gives components of one app the same client, and closes it after the last of them', async () => {
  const clients = countClients();
  const [a, b] = [shareClient({ worker, name: 'shop' }), shareClient({ worker, name: 'shop' })];
  expect(await a.connecting).toBe(await b.connecting);
  a.release();
  await turn();
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([false]);
  b.release();
  await turn();
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true]);
});

it('keeps the client of a component that is mounted anew at once, as in strict mode', async () => {
  const clients = countClients();
  shareClient({ worker, name: 'strict' }).release();
  const again = shareClient({ worker, name: 'strict' });
  await turn();
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([false]);
  again.release();
  await turn();
  expect(clients.map(({ isClosed }) => isClosed)).toEqual([true]);
});

it('gives each app a client of its own', async () => {
  const clients = countClients();
  const apps = [shareClient({ worker }), shareClient({ worker, name: 'blog' })];
  await turn();
  expect(clients).toHaveLength(2);
  for (const { release } of apps) release();
  await turn();
});

it('connects again after a client that could not be made', async () => {
  countClients();
  vi.mocked(connect).mockRejectedValueOnce(new Error('no browser'));
  const failed = shareClient({ worker, name: 'failing' });
  await expect(failed.connecting).rejects.toThrow('no browser');
  failed.release();
  await turn();
  const next = shareClient({ worker, name: 'failing' });
  await expect(next.connecting).resolves.toBeDefined();
  next.release();
  await turn();
});

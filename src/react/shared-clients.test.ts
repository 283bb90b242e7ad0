import { describe, expect, it, vi } from 'vitest';
import { connect, type ConnectOptions, type LoadModelOptions, type ServerOptions } from '../client/index.ts';
import type * as Client from '../client/index.ts';
import { keyOf, shareClient, type ClientUse, type HookOptions } from './shared-clients.ts';

vi.mock('../client/index.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof Client>()),
  connect: vi.fn<() => unknown>(),
}));

const worker = (): Worker => {
  throw new Error('No tab leads here.');
};

type Load = readonly [model: unknown, options: LoadModelOptions];

/** Each call of `connect` gives a client of its own. */
function countClients() {
  const clients: { close: () => void; isClosed: boolean; loads: Load[]; loadModel: unknown }[] = [];
  vi.mocked(connect).mockImplementation(() => {
    const loads: Load[] = [];
    const client = {
      isClosed: false,
      close: () => void (client.isClosed = true),
      loads,
      loadModel: async (...load: Load) => void loads.push(load),
    };
    clients.push(client);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- nothing else is called
    return Promise.resolve(client as unknown as Client.TabserveClient);
  });
  return clients;
}

/** After all microtasks. */
async function turn(): Promise<void> {
  for (let i = 0; i < 8; i++) await Promise.resolve();
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

describe('a changed option', () => {
  /** Another value for each option of `connect`, and what becomes of it. */
  const changes: {
    readonly [Name in keyof Required<ConnectOptions>]: readonly [unknown, 'loads' | 'connects' | 'later'];
  } = {
    worker: [() => worker(), 'later'],
    name: ['other', 'connects'],
    backend: ['wasm', 'connects'],
    model: ['a/b', 'loads'],
    embedder: ['a/b', 'loads'],
    reranker: ['a/b', 'loads'],
    dtype: ['q8', 'loads'],
    hub: ['https://hub.test', 'connects'],
    canLead: [false, 'connects'],
    server: ['https://gpu.test', 'connects'],
  };

  it.each(Object.entries(changes))('%s takes effect', async (name, [value, effect]) => {
    const [client] = await follow({ worker }, { worker, [name]: value });
    const isOther = keyOf({ worker }) !== keyOf({ worker, [name]: value });
    expect(isOther).toBe(effect === 'connects');
    expect(client?.loads).toHaveLength(effect === 'loads' ? 1 : 0);
  });

  const ofServer: { readonly [Name in keyof Required<ServerOptions>]: string } = {
    server: 'https://other.test',
    model: 'b',
    embedder: 'b',
    reranker: 'b',
    apiKey: 'b',
  };

  it.each(Object.entries(ofServer))('%s of a server makes another client', (name, value) => {
    const server = 'https://gpu.test';
    expect(keyOf({ server, [name]: value })).not.toBe(keyOf({ server }));
  });

  it('loads what it names for what it serves, in the precision asked for', async () => {
    const [client] = await follow(
      { worker, model: 'a/chat', dtype: 'q8' },
      { worker, model: 'b/chat', dtype: 'q8' },
      { worker, model: 'b/chat', dtype: 'fp16', embedder: 'a/vectors' },
      { worker, dtype: 'fp16', embedder: 'a/vectors' },
    );
    expect(client?.loads).toEqual([
      ['b/chat', { deployment: 'text-generator', dtype: 'q8' }],
      ['b/chat', { deployment: 'text-generator', dtype: 'fp16' }],
      ['a/vectors', { deployment: 'embedder' }],
      ['storyteller', { deployment: 'text-generator', dtype: 'fp16' }],
    ]);
  });

  it('loads once for components that change together', async () => {
    const clients = countClients();
    const uses = [1, 2].map(() => shareClient({ worker, model: 'a/chat' }));
    for (const use of uses) use.follow({ worker, model: 'b/chat' });
    await releaseAll(uses);
    expect(clients.map(({ loads }) => loads.length)).toEqual([1]);
  });

  it('loads nothing for a list of the same files', async () => {
    const file = new File([], 'model.gguf');
    const [client] = await follow({ worker, model: [file] }, { worker, model: [file] });
    expect(client?.loads).toEqual([]);
  });

  it('tells all components why a load has failed, until a later one succeeds', async () => {
    const [clients, told] = [countClients(), vi.fn<(error: Error | undefined) => void>()];
    const uses = [shareClient({ worker, model: 'a/b' }, told), shareClient({ worker }, () => {})];
    const [client] = clients;
    Object.assign(client ?? {}, { loadModel: () => Promise.reject(new Error('no such model')) });
    uses[1]?.follow({ worker, model: 'bad/one' });
    await turn();
    expect(told).toHaveBeenLastCalledWith(new Error('no such model'));
    Object.assign(client ?? {}, { loadModel: () => Promise.resolve() });
    uses[1]?.follow({ worker, model: 'good/one' });
    await turn();
    expect(told).toHaveBeenLastCalledWith(undefined);
    await releaseAll(uses);
  });

  it('says nothing of a load that a later one has replaced', async () => {
    const [clients, told] = [countClients(), vi.fn<(error: Error | undefined) => void>()];
    const use = shareClient({ worker, model: 'a/b' }, told);
    const { promise, reject } = Promise.withResolvers<void>();
    Object.assign(clients[0] ?? {}, {
      loadModel: (model: string) => (model === 'b/b' ? promise : undefined),
    });
    for (const model of ['b/b', 'c/c']) use.follow({ worker, model });
    reject(new Error('replaced'));
    await turn();
    expect(told.mock.calls).toEqual([[undefined]]);
    await releaseAll([use]);
  });

  it.each(['model', 'embedder', 'reranker'])('refuses by name to take the %s away', async (name) => {
    countClients();
    const told = vi.fn<(error: Error | undefined) => void>();
    const use = shareClient({ worker, [name]: 'a/b' }, told);
    use.follow({ worker, [name]: name === 'model' ? null : undefined });
    expect(told.mock.calls).toMatchObject([[{ code: 'INVALID_OPTION', param: name }]]);
    await releaseAll([use]);
  });

  it('calls the last worker at the next start', async () => {
    countClients();
    const last = vi.fn<() => Worker>(worker);
    const use = shareClient({ worker });
    use.follow({ worker: last });
    const [options] = vi.mocked(connect).mock.lastCall ?? [];
    expect(options && 'worker' in options && options.worker).toThrow('No tab leads here.');
    expect(last).toHaveBeenCalledOnce();
    await releaseAll([use]);
  });
});

describe('components that give an app different options', () => {
  it('share a client with what one leaves out', async () => {
    const clients = countClients();
    const uses = [shareClient({ worker, hub: 'https://hub.test', model: 'a/b' }), shareClient({ worker })];
    expect(clients).toHaveLength(1);
    await releaseAll(uses);
    expect(clients[0]).toMatchObject({ isClosed: true, loads: [] });
  });

  it('are told by name whose model counts', async () => {
    const [clients, warn] = [countClients(), vi.spyOn(console, 'warn').mockReturnValue()];
    const uses = ['a/b', 'b/b'].map((model) => shareClient({ worker, model }));
    expect(warn.mock.calls).toEqual([[expect.stringContaining('another `model`, which counts')]]);
    await releaseAll(uses);
    expect(clients[0]?.loads).toEqual([]);
  });

  it('load the model of one that takes the place of another', async () => {
    const clients = countClients();
    shareClient({ worker, model: 'a/b' }).release();
    const use = shareClient({ worker, model: 'b/b' });
    await turn();
    expect(clients).toMatchObject([{ isClosed: false, loads: [['b/b', {}]] }]);
    await releaseAll([use]);
  });

  it('begin clients of their own with other values of what a client begins with', async () => {
    const clients = countClients();
    const uses = (['wasm', 'webgpu'] as const).map((backend) => shareClient({ worker, backend }));
    expect(clients).toHaveLength(2);
    await releaseAll(uses);
  });
});

/** A component that gives these options, one after the other. */
async function follow(first: HookOptions, ...later: readonly HookOptions[]) {
  const clients = countClients();
  const use = shareClient(first);
  for (const options of later) use.follow(options);
  await releaseAll([use]);
  return clients;
}

async function releaseAll(uses: readonly ClientUse[]): Promise<void> {
  await turn();
  for (const { release } of uses) release();
  await turn();
}

import { expectReferenceTokens } from './support/expect-reference.ts';
import {
  deleteModel,
  loadModel,
  storedFiles,
  storedModels,
  test,
  TWIN,
  twinFiles,
  WEIGHTS,
} from './support/hub-test.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

test(
  'a model of the hub serves once it is here, and the embedded one until then',
  { tag: ANY_BACKEND },
  async ({ readyTab, hub }) => {
    const held = Promise.withResolvers<boolean>();
    hub.fault = ({ path, kind }) =>
      path === WEIGHTS && kind === 'content' ? { gate: () => held.promise } : undefined;
    const loading = loadModel(readyTab, TWIN, { hub: hub.url });
    await expect.poll(() => hub.requests.some(({ kind }) => kind === 'content')).toBe(true);
    const during = await readyTab.status();
    expect(during).toMatchObject({ state: 'ready', model: { id: 'storyteller' }, load: { id: TWIN } });
    await expectReferenceTokens(readyTab);
    held.resolve(true);
    const { value, loads } = await loading;
    expect(value).toMatchObject({ state: 'ready', model: { id: TWIN } });
    expect(value?.load).toBeUndefined();
    const phases = [...new Set(loads.map(({ phase }) => phase))];
    expect(phases).toEqual(['resolve', 'download', 'prepare', 'compile', 'drain']);
    await expectReferenceTokens(readyTab);
    const size = twinFiles().get(WEIGHTS)?.length ?? 0;
    const sent = hub.requests
      .filter(({ kind }) => kind === 'content')
      .reduce((sum, { bytesSent }) => sum + bytesSent, 0);
    expect(sent, 'bytes of the weights that the hub has sent').toBe(size);
    expect(await storedModels(readyTab)).toMatchObject([{ id: TWIN, revision: 'main' }]);
    expect(readyTab.errors).toEqual([]);
  },
);

test.describe('a model that was loaded once', { tag: ANY_BACKEND }, () => {
  test('serves after a reload with the hub out of reach, without a request for any model', async ({
    ownTab,
    hub,
    backend,
    context,
  }) => {
    await ownTab.open(`?backend=${backend}`);
    expect((await loadModel(ownTab, TWIN, { hub: hub.url })).value?.model?.id).toBe(TWIN);
    await context.route(`${hub.url}/**`, (route) => route.abort());
    hub.forget();
    ownTab.requestedUrls.length = 0;
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe(TWIN);
    await expectReferenceTokens(ownTab);
    // Asked for again by its id, it comes from the store as well.
    await loadModel(ownTab, 'storyteller', {});
    expect((await ownTab.status()).model?.id).toBe('storyteller');
    expect((await loadModel(ownTab, TWIN, { hub: hub.url })).value?.model?.id).toBe(TWIN);
    await expectReferenceTokens(ownTab);
    expect(hub.requests).toEqual([]);
    expect(ownTab.requestedUrls.filter((url) => url.startsWith(hub.url))).toEqual([]);
  });

  test('is gone once it is deleted, and the embedded one serves at the next start', async ({
    ownTab,
    hub,
    backend,
  }) => {
    await ownTab.open(`?backend=${backend}`);
    await loadModel(ownTab, TWIN, { hub: hub.url });
    const [stored] = await storedModels(ownTab);
    await deleteModel(ownTab, stored?.key ?? '');
    expect(await storedModels(ownTab)).toEqual([]);
    // It is in memory, and goes on.
    await expectReferenceTokens(ownTab);
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe('storyteller');
    expect(await storedFiles(ownTab.page)).toEqual([]);
  });
});

test.describe('the model of the page’s address', { tag: ANY_BACKEND }, () => {
  test('is the first one, shows its download, and comes from the store at the next start', async ({
    ownTab,
    hub,
    backend,
  }) => {
    const address = `?backend=${backend}&model=${TWIN}&dtype=fp32&hub=${hub.url}`;
    await ownTab.open(address);
    const phases = await ownTab.page.evaluate(async () => {
      const heard = new Set<string>();
      window.tabserve.subscribe('status', ({ load }) => load && heard.add(load.phase));
      await window.tabserve.ready();
      return [...heard];
    });
    expect(phases).toEqual(expect.arrayContaining(['resolve', 'download']));
    expect(await ownTab.status()).toMatchObject({ state: 'ready', model: { id: TWIN } });
    await expectReferenceTokens(ownTab);
    expect(ownTab.requestedUrls.filter((url) => url.includes('/models/storyteller/'))).toEqual([]);
    hub.forget();
    await ownTab.open(address);
    expect((await ownTab.ready()).model?.id).toBe(TWIN);
    expect(hub.requests).toEqual([]);
  });

  test('fails with the hub’s reason, and the embedded one can be loaded instead', async ({
    ownTab,
    hub,
    backend,
  }) => {
    await ownTab.open(`?backend=${backend}&model=tests/none&hub=${hub.url}`);
    await expect.poll(async () => (await ownTab.status()).error?.code).toBe('MODEL_NOT_FOUND');
    expect((await ownTab.status()).state).toBe('failed');
    expect((await loadModel(ownTab, 'storyteller', {})).value?.state).toBe('ready');
    await expectReferenceTokens(ownTab);
  });
});

test.describe('two tabs', { tag: ANY_BACKEND }, () => {
  test('see the same load, its progress and its model, and the next leader serves it from the store', async ({
    site,
    hub,
  }) => {
    const [first, second] = await site.openPair();
    const heard = second.page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const phases = new Set<string>();
          window.tabserve.subscribe('status', ({ load, model }) => {
            if (load) phases.add(load.phase);
            if (model?.id === 'tests/twin') resolve([...phases]);
          });
        }),
    );
    expect((await loadModel(first, TWIN, { hub: hub.url })).value?.model?.id).toBe(TWIN);
    expect(await heard).toEqual(expect.arrayContaining(['download', 'prepare', 'compile']));
    await expectReferenceTokens(second);
    hub.forget();
    const leader = await site.leader();
    await site.close(leader);
    const [next] = site.tabs;
    await expect.poll(async () => (await next?.status())?.role).toBe('leader');
    await expect.poll(async () => (await next?.ready())?.model?.id).toBe(TWIN);
    if (next) await expectReferenceTokens(next);
    expect(hub.requests).toEqual([]);
  });

  test('get over a leader that is closed in the middle of a download: the call of the other goes on', async ({
    site,
    hub,
  }) => {
    const [first, second] = await site.openPair();
    const leader = await site.leader();
    const follower = leader === first ? second : first;
    hub.fault = ({ kind }) =>
      kind === 'content' ? { gate: () => new Promise<boolean>(() => {}) } : undefined;
    const loading = loadModel(follower, TWIN, { hub: hub.url });
    await expect.poll(() => hub.requests.some(({ kind }) => kind === 'content')).toBe(true);
    hub.fault = () => undefined;
    await site.close(leader);
    expect((await loading).value?.model?.id).toBe(TWIN);
    await expectReferenceTokens(follower);
  });
});

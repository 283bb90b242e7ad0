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
  async ({ freshTab, hub }) => {
    const held = Promise.withResolvers<boolean>();
    hub.fault = ({ path, kind }) =>
      path === WEIGHTS && kind === 'content' ? { gate: () => held.promise } : undefined;
    const loading = loadModel(freshTab, TWIN, { hub: hub.url });
    await expect.poll(() => hub.requests.some(({ kind }) => kind === 'content')).toBe(true);
    const during = await freshTab.status();
    expect(during).toMatchObject({ state: 'ready', model: { id: 'storyteller' }, load: { id: TWIN } });
    await expectReferenceTokens(freshTab);
    held.resolve(true);
    const { value, loads } = await loading;
    expect(value).toMatchObject({ state: 'ready', model: { id: TWIN } });
    expect(value?.load).toBeUndefined();
    const phases = [...new Set(loads.map(({ phase }) => phase))];
    expect(phases).toEqual(['resolve', 'download', 'prepare', 'compile', 'drain']);
    await expectReferenceTokens(freshTab);
    const size = twinFiles().get(WEIGHTS)?.length ?? 0;
    const sent = hub.requests
      .filter(({ kind }) => kind === 'content')
      .reduce((sum, { bytesSent }) => sum + bytesSent, 0);
    expect(sent, 'bytes of the weights that the hub has sent').toBe(size);
    expect(await storedModels(freshTab)).toMatchObject([{ id: TWIN, revision: 'main' }]);
  },
);

test(
  'a model that was loaded once serves after a reload, with the hub out of reach, until it is deleted',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend, context }) => {
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

    const [stored] = await storedModels(ownTab);
    await deleteModel(ownTab, stored?.key ?? '');
    expect(await storedModels(ownTab)).toEqual([]);
    // It is in memory, and goes on.
    await expectReferenceTokens(ownTab);
    await ownTab.open(`?backend=${backend}`);
    expect((await ownTab.ready()).model?.id).toBe('storyteller');
    expect(await storedFiles(ownTab.page)).toEqual([]);
  },
);

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

test(
  'all tabs see a load, which goes on when the leader is closed in its middle; the next to lead has the model in its store',
  { tag: ANY_BACKEND },
  async ({ site, hub }) => {
    await site.openReady(3);
    const leader = await site.leader();
    const [asking, other] = await site.followers();
    if (!asking || !other) throw new Error('There are two followers.');
    const heard = other.page.evaluate(
      () =>
        new Promise<string[]>((resolve) => {
          const phases = new Set<string>();
          window.tabserve.subscribe('status', ({ load, model }) => {
            if (load) phases.add(load.phase);
            if (model?.id === 'tests/twin') resolve([...phases]);
          });
        }),
    );
    hub.fault = ({ kind }) =>
      kind === 'content' ? { gate: () => new Promise<boolean>(() => {}) } : undefined;
    const loading = loadModel(asking, TWIN, { hub: hub.url });
    await expect.poll(() => hub.requests.some(({ kind }) => kind === 'content')).toBe(true);
    hub.fault = () => undefined;
    await site.close(leader);
    expect((await loading).value?.model?.id).toBe(TWIN);
    expect(await heard).toEqual(expect.arrayContaining(['download', 'prepare', 'compile']));
    for (const tab of site.tabs) await expectReferenceTokens(tab);
    hub.forget();
    await site.close(await site.leader());
    const [last] = site.tabs;
    await expect.poll(async () => (await last?.status())?.role).toBe('leader');
    expect((await last?.ready())?.model?.id).toBe(TWIN);
    if (last) await expectReferenceTokens(last);
    expect(hub.requests).toEqual([]);
  },
);

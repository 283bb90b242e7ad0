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
  'the model of the page’s address is the first one, and serves after a reload, with the hub out of reach, until it is deleted',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend, context }) => {
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
    await context.route(`${hub.url}/**`, (route) => route.abort());
    hub.forget();
    ownTab.requestedUrls.length = 0;
    await ownTab.open(address);
    expect((await ownTab.ready()).model?.id).toBe(TWIN);
    await expectReferenceTokens(ownTab);
    // Asked for again by its id, it comes from the store as well.
    await loadModel(ownTab, 'storyteller', {});
    expect((await ownTab.status()).model?.id).toBe('storyteller');
    expect((await loadModel(ownTab, TWIN, { hub: hub.url, dtype: 'fp32' })).value?.model?.id).toBe(TWIN);
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

test(
  'the model of the page’s address fails with the hub’s reason, and the embedded one can be loaded instead',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    await ownTab.open(`?backend=${backend}&model=tests/none&hub=${hub.url}`);
    await expect.poll(async () => (await ownTab.status()).error?.code).toBe('MODEL_NOT_FOUND');
    expect((await ownTab.status()).state).toBe('failed');
    expect((await loadModel(ownTab, 'storyteller', {})).value?.state).toBe('ready');
    await expectReferenceTokens(ownTab);
  },
);

test(
  'all tabs see a load, which goes on when the leader is closed in its middle; the next to lead has the model in its store, until it is deleted',
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
    if (!last) throw new Error('There is no third tab.');
    await expect.poll(async () => (await last.status()).role).toBe('leader');
    expect((await last.ready()).model?.id).toBe(TWIN);
    await expectReferenceTokens(last);
    expect(hub.requests).toEqual([]);

    await test.step('it is not deleted by mistake; once it is gone, the other tab no longer lists it, and the next to lead says so', async () => {
      const [second] = await site.openReady(1);
      if (!second) throw new Error('There is no follower.');
      const remove = last.page.getByRole('button', { name: `Delete ${TWIN}` });
      await last.openStatus();
      await expect(remove).toBeVisible();
      const [stored] = await storedModels(second);
      expect(stored).toMatchObject({ id: TWIN, isInUse: true });
      const refusal = await second.page.evaluate(
        (key) => window.tabserve.deleteModel(key).catch((error: Error) => error.message),
        stored?.key ?? '',
      );
      expect(refusal).toContain(`${TWIN} is in use`);
      await deleteModel(second, stored?.key ?? '');
      expect((await second.status()).model?.id, 'it runs on').toBe(TWIN);
      // Playwright makes all pages believe that they have the focus, so none gets a focus event.
      await last.page.evaluate(() => window.dispatchEvent(new Event('focus')));
      await expect(remove).toHaveCount(0);
      await site.close(last);
      await expect
        .poll(async () => (await second.status()).loadFailure)
        .toMatchObject({ id: TWIN, error: { code: 'MODEL_DELETED' } });
      expect((await second.ready()).model?.id).toBe('storyteller');
      const note = second.page.getByRole('complementary', { name: 'Handover' });
      await expect(note).toContainText(`${TWIN} is no longer on this device`);
      await expect(note).toContainText('storyteller took over');
    });
  },
);

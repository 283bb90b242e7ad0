import type { Fault, HubRequest } from '../tools/hub-server/hub-server.ts';
import { expectReferenceTokens } from './support/expect-reference.ts';
import {
  deleteModel,
  FORBIDDEN_URL,
  loadModel,
  MISSING_SHARD,
  SHARDED,
  storedFiles,
  storedModels,
  test,
  TWIN,
  UNKNOWN_ROPE,
  WEIGHTS,
  type Loaded,
} from './support/hub-test.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

interface BadLoad {
  readonly title: string;
  readonly id?: string;
  readonly revision?: string;
  readonly fault?: (request: HubRequest) => Fault | undefined;
  readonly code: string;
  readonly says: string;
  /** Set where the configuration shows the error, so that no weights are requested. */
  readonly isBeforeWeights?: true;
  /** Where the page's policy stops what the hub asks for. */
  readonly violation?: string;
}

const status =
  (answer: Fault) =>
  (request: HubRequest): Fault | undefined =>
    request.path === WEIGHTS ? answer : undefined;

const BAD_LOADS: readonly BadLoad[] = [
  {
    title: 'of which a byte is another one',
    fault: ({ kind }) => (kind === 'content' ? { corruptAt: 1_000_000 } : undefined),
    code: 'MODEL_FILE_CORRUPT',
    says: 'its SHA-256 is not',
  },
  {
    title: 'of which a small file is another one',
    fault: ({ path }) => (path === 'tokenizer.json' ? { corruptAt: 100 } : undefined),
    code: 'MODEL_FILE_CORRUPT',
    says: 'tokenizer.json is damaged: its git blob id is not',
  },
  {
    title: 'with a tensor of another shape',
    id: 'tests/wrong-shape',
    code: 'MODEL_FILE_CORRUPT',
    says: 'has shape',
  },
  {
    title: 'without one of its tensors',
    id: 'tests/missing-tensor',
    code: 'MODEL_FILE_CORRUPT',
    says: 'is missing',
  },
  { title: 'with a bad header', id: 'tests/bad-header', code: 'MODEL_FILE_CORRUPT', says: 'header' },
  {
    title: 'of another architecture',
    id: 'tests/mamba',
    code: 'UNSUPPORTED_MODEL',
    says: 'mamba',
    isBeforeWeights: true,
  },
  {
    title: 'whose tokenizer has a regular expression that may take forever',
    id: 'tests/endless-pattern',
    code: 'UNSUPPORTED_MODEL',
    says: '"(a+)+$", which may take forever',
  },
  {
    title: 'whose positions are rotated in an unknown way',
    id: UNKNOWN_ROPE,
    code: 'UNSUPPORTED_MODEL',
    says: 'the rope type "spiral"',
    isBeforeWeights: true,
  },
  {
    title: 'without one of its shards',
    id: MISSING_SHARD,
    code: 'MODEL_FILE_MISSING',
    says: 'model-00002-of-00002.safetensors',
  },
  {
    title: 'of whose second shard a byte is another one',
    id: SHARDED,
    fault: ({ kind, path }) =>
      kind === 'content' && path.includes('00002-of') ? { corruptAt: 100_000 } : undefined,
    code: 'MODEL_FILE_CORRUPT',
    says: 'model-00002-of-00002.safetensors is damaged: its SHA-256 is not',
  },
  { title: 'that is not there', id: 'tests/nobody', code: 'MODEL_NOT_FOUND', says: 'tests/nobody' },
  {
    title: 'of a revision that is not there',
    revision: 'v9',
    code: 'MODEL_NOT_FOUND',
    says: 'no such revision',
  },
  {
    title: 'that is gated',
    fault: status({ status: 403, headers: { 'X-Error-Code': 'GatedRepo' } }),
    code: 'MODEL_ACCESS_DENIED',
    says: 'is gated',
  },
  {
    title: 'that is not for everybody',
    fault: status({ status: 401 }),
    code: 'MODEL_ACCESS_DENIED',
    says: '401',
  },
  {
    title: 'of a hub that wants no more requests for a while',
    fault: status({ status: 429, headers: { 'Retry-After': '300' } }),
    code: 'HUB_RATE_LIMITED',
    says: 'in 300 s',
  },
  {
    title: 'whose configuration is a web page, as behind the sign-in of a network',
    fault: ({ path }) =>
      path === 'config.json' ? { status: 200, headers: { 'Content-Type': 'text/html' } } : undefined,
    code: 'HUB_BAD_ANSWER',
    says: 'answered with a web page instead of config.json',
  },
  {
    title: "that is redirected to a host outside of the page's policy",
    fault: ({ path }) =>
      path === 'config.json' ? { status: 302, headers: { Location: FORBIDDEN_URL } } : undefined,
    code: 'HUB_REDIRECT_FAILED',
    says: "redirects config.json to a host that this page's policy (connect-src) forbids",
    violation: 'connect-src stopped',
  },
  {
    title: 'that is redirected in a circle',
    fault: status({ status: 302, headers: { Location: '?again' } }),
    code: 'HUB_REDIRECT_FAILED',
    says: `redirects ${WEIGHTS}, and the redirect fails: it leads in a circle`,
  },
  {
    title: 'of a hub that is out of order for long',
    fault: status({ status: 503, headers: { 'Retry-After': '300' } }),
    code: 'HUB_UNAVAILABLE',
    says: 'HTTP status 503',
  },
];

/** Expects the error from the load and in the status, and the embedded model still serving. */
async function expectFailure(
  tab: Tab,
  loaded: Loaded,
  { code, says }: Pick<BadLoad, 'code' | 'says'>,
): Promise<void> {
  expect({ code: loaded.code, message: loaded.message }).toEqual({
    code,
    message: expect.stringContaining(says),
  });
  const { state, model, load, loadFailure } = await tab.status();
  expect(state).toBe('ready');
  expect(model?.id).toBe('storyteller');
  expect(load).toBeUndefined();
  expect(loadFailure?.error).toEqual({ code, message: loaded.message });
  await expectReferenceTokens(tab);
}

test.describe('a model', { tag: ANY_BACKEND }, () => {
  test('that cannot be had fails with a named error, leaves nothing behind, and the one before it serves on', async ({
    freshTab,
    hub,
    takeViolations,
  }) => {
    for (const bad of BAD_LOADS) {
      const { title, id = TWIN, revision = 'main', fault, code, violation } = bad;
      await test.step(`one ${title}: ${code}`, async () => {
        hub.fault = fault ?? (() => undefined);
        hub.forget();
        const loaded = await loadModel(freshTab, id, { hub: hub.url, revision });
        await expectFailure(freshTab, loaded, bad);
        if (violation !== undefined)
          await expect.poll(takeViolations).toEqual([expect.stringContaining(violation)]);
        const asked = new Set(hub.requests.filter(({ kind }) => kind !== 'api').map(({ path }) => path));
        // The configuration shows the error, so nothing else is fetched.
        if (bad.isBeforeWeights)
          expect([...asked].toSorted()).toEqual(['config.json', 'generation_config.json']);
        hub.forget();
        // A download that failed because the hub was busy is kept, so that it can resume.
        const stored = await storedModels(freshTab);
        expect(stored).toHaveLength(code.startsWith('HUB_') ? 1 : 0);
        for (const { key } of stored) await deleteModel(freshTab, key);
        expect(await storedFiles(freshTab.page)).toEqual([]);
      });
    }
  });

  test('that is larger than the quota fails with STORAGE_QUOTA before its weights are fetched', async ({
    freshTab,
    hub,
    hubSite: { pageUrl: origin },
  }) => {
    const session = await freshTab.page.context().newCDPSession(freshTab.page);
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000_000 });
    const loaded = await loadModel(freshTab, TWIN, { hub: hub.url });
    await expectFailure(freshTab, loaded, { code: 'STORAGE_QUOTA', says: 'The model needs 7 MB of storage' });
    const sent = hub.requests.filter(({ kind }) => kind === 'content');
    expect(sent.reduce((sum, { bytesSent }) => sum + bytesSent, 0)).toBeLessThan(100_000);
    expect(await storedFiles(freshTab.page)).toEqual([]);
    await expect((await freshTab.openStatus()).locator('.models .error-line')).toHaveText([/STORAGE_QUOTA/]);
    // No room at all. Zero would lift the override.
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
    const refused = await loadModel(freshTab, TWIN, { hub: hub.url });
    await expectFailure(freshTab, refused, { code: 'STORAGE_QUOTA', says: 'has no storage left' });
    await session.send('Storage.overrideQuotaForOrigin', { origin });
    await session.detach();
  });

  test('whose id or hub cannot be is refused before anything is asked', async ({ hubTab, hub }) => {
    expect((await loadModel(hubTab, 'owner/name/more', { hub: hub.url })).code).toBe('INVALID_OPTION');
    expect((await loadModel(hubTab, TWIN, { hub: 'ftp://hub' })).code).toBe('INVALID_OPTION');
    expect(hub.requests).toEqual([]);
  });
});

test(
  "the page's policy allows its own origin and the hub's, and no other",
  { tag: ANY_BACKEND },
  async ({ hubTab, hub, takeViolations }) => {
    const fetchFrom = (url: string): Promise<string> =>
      hubTab.page.evaluate(async (from) => {
        const violation = new Promise<string>((resolve) =>
          document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective), {
            once: true,
          }),
        );
        return fetch(from).then(
          () => 'fetched',
          () => violation,
        );
      }, url);
    expect(await fetchFrom('/index.html')).toBe('fetched');
    expect(await fetchFrom(`${hub.url}/api/models/${TWIN}/revision/main`)).toBe('fetched');
    expect(await takeViolations()).toEqual([]);
    expect(await fetchFrom(FORBIDDEN_URL)).toBe('connect-src');
    await expect
      .poll(takeViolations)
      .toEqual([expect.stringContaining('connect-src stopped http://127.0.0.1:9/')]);
    const { origin } = new URL(FORBIDDEN_URL);
    expect(await loadModel(hubTab, TWIN, { hub: origin }), 'the worker says what to allow').toMatchObject({
      code: 'HUB_UNREACHABLE',
      message: expect.stringContaining(
        `blocks ${origin}. Serve that script with \`connect-src 'self' ${origin}\``,
      ),
    });
    const stopped: unknown[] = [];
    // It asks once more, without redirects.
    await expect.poll(async () => stopped.push(...(await takeViolations()))).toBe(2);
    expect(hubTab.errors.splice(0), 'what the console says').not.toEqual([]);
  },
);

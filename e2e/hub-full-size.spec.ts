import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext } from 'playwright/test';

import { WEBGPU_ARGUMENTS } from '../bridge/browser/launch-arguments.ts';
import { CHECKPOINTS, FULL_SIZE } from '../tools/hub-server/checkpoints/checkpoints.ts';
import { createRepository, type HubContent } from '../tools/hub-server/hub-repository.ts';
import { startHubServer } from '../tools/hub-server/hub-server.ts';
import { requireEnvironment } from './support/environment.ts';
import { loadModel, serveBuiltPage, storedModels, WEIGHTS } from './support/hub-test.ts';
import { peakMemoryOf } from '../tools/bench/process-memory.ts';
import { Tab } from './support/tab.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

interface Reference {
  readonly files: Readonly<Record<string, { readonly size: number; readonly sha256: string }>>;
  readonly prompts: readonly { readonly prompt: string; readonly greedyTokenIds: readonly number[] }[];
}

/** NumPy's results in float64, made by tools/reference/gpt2. */
const references: Readonly<Record<string, Reference>> = JSON.parse(
  readFileSync(new URL('../tools/reference/fixtures/checkpoints-reference.json', import.meta.url), 'utf8'),
);

const NUM_TOKENS = 4;

/** Size of the file's unused masks: twelve of 1024 x 1024 in F32. */
const MASK_BYTES = 12 * 1024 * 1024 * 4;

/** The first mask begins within what comes with the header. */
const WITH_HEADER_BYTES = 64 * 1024;

/** Runs with a profile on disk. An incognito window would keep its storage in memory. */
async function withProfile(
  run: (tab: Tab, context: BrowserContext) => Promise<void>,
  baseURL: string,
): Promise<void> {
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-profile-'));
  const { browserPath: executablePath } = requireEnvironment();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...WEBGPU_ARGUMENTS],
    baseURL,
  });
  try {
    await run(new Tab(context, await context.newPage()), context);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

test("a checkpoint of GPT-2's own size and layout is downloaded without its masks, stored, and gives the reference's tokens", async ({
  backend,
}) => {
  test.skip(!IS_WHOLE, 'half a gigabyte: in the whole suite');
  test.setTimeout(1_200_000);
  const reference = references[FULL_SIZE];
  if (!reference) throw new Error(`There is no reference for ${FULL_SIZE}`);
  const contents = new Map<string, HubContent>();
  for (const [path, file] of CHECKPOINTS.get(FULL_SIZE)?.() ?? []) {
    const { sha256 = '' } = reference.files[path] ?? {};
    contents.set(path, { size: file.size, read: (begin, end) => file.read(begin, end), sha256 });
  }
  const hub = await startHubServer([await createRepository(FULL_SIZE, contents)]);
  const page = await serveBuiltPage(hub.url);
  await withProfile(async (tab, context) => {
    await tab.open(`?backend=${backend}`);
    await tab.ready();
    const startedAtMs = performance.now();
    const { value, message } = await loadModel(tab, FULL_SIZE, { hub: hub.url });
    expect(message).toBeUndefined();
    expect(value).toMatchObject({
      model: { id: FULL_SIZE, numParameters: 124_439_808 },
      backend: { name: backend },
    });
    const loadedAtMs = performance.now();
    const results = await tab.generateAll(
      reference.prompts.map(({ prompt }) => ({
        prompt,
        options: { temperature: 0, maxNewTokens: NUM_TOKENS },
      })),
    );
    for (const [i, { tokenIds }] of results.entries()) {
      expect(tokenIds).toEqual(reference.prompts[i]?.greedyTokenIds.slice(0, NUM_TOKENS));
    }
    const sent = hub.requests
      .filter(({ kind }) => kind === 'content')
      .reduce((sum, { bytesSent }) => sum + bytesSent, 0);
    const numUnneeded = sent - ((contents.get(WEIGHTS)?.size ?? 0) - MASK_BYTES);
    expect(numUnneeded).toBeGreaterThanOrEqual(0);
    expect(numUnneeded).toBeLessThan(WITH_HEADER_BYTES);
    const [stored] = await storedModels(tab);
    const browser = context.browser();
    const peakBytes = browser ? (await peakMemoryOf(browser)).page : 0;
    console.log(
      `    ${FULL_SIZE} on ${backend}: ${inMegabytes(sent)} sent, ${stored?.dtype} of ${inMegabytes(stored?.storedBytes ?? 0)} stored, ` +
        `loaded in ${((loadedAtMs - startedAtMs) / 1000).toFixed(1)} s, ` +
        `${results.length} x ${NUM_TOKENS} tokens in ${((performance.now() - loadedAtMs) / 1000).toFixed(1)} s, ` +
        `the renderer's peak ${inMegabytes(peakBytes)}`,
    );
    expect(tab.errors).toEqual([]);
  }, page.url);
  await Promise.all([page.close(), hub.close()]);
});

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

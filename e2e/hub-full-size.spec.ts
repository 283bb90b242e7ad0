import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Browser } from 'playwright/test';

import { WEBGPU_ARGUMENTS } from '../bridge/browser/launch-arguments.ts';
import { CHECKPOINTS, FULL_SIZE } from '../tools/hub-server/checkpoints/checkpoints.ts';
import {
  FULL_SIZE_LLAMA,
  fullSizeLlama,
  LARGEST_TENSOR_BYTES,
} from '../tools/hub-server/checkpoints/full-size-llama.ts';
import { createRepository, type HubContent, type HubRepository } from '../tools/hub-server/hub-repository.ts';
import { startHubServer, type HubServer } from '../tools/hub-server/hub-server.ts';
import type { Dtype } from '../src/protocol/models.ts';
import { requireEnvironment } from './support/environment.ts';
import { loadModel, serveBuiltPage, storedModels, WEIGHTS } from './support/hub-test.ts';
import { peakBytes, residentBytes } from '../tools/bench/process-memory.ts';
import { Tab } from './support/tab.ts';
import { expect, IS_WHOLE, test } from './support/test.ts';

interface Reference {
  readonly files: Readonly<Record<string, { readonly size: number; readonly sha256: string }>>;
  readonly prompts: readonly { readonly prompt: string; readonly greedyTokenIds: readonly number[] }[];
}

/** The results of transformers in float64, made by tools/reference/gpt2. */
const references: Readonly<Record<string, Reference>> = JSON.parse(
  readFileSync(new URL('../tools/reference/fixtures/checkpoints-reference.json', import.meta.url), 'utf8'),
);

const NUM_TOKENS = 4;

/** Size of the file's unused masks: twelve of 1024 x 1024 in F32. */
const MASK_BYTES = 12 * 1024 * 1024 * 4;

/** The first mask begins within what comes with the header. */
const WITH_HEADER_BYTES = 64 * 1024;

/** Beside the weights, while they are loaded. */
const MAX_GPT2_BYTES = 300e6;

const LLAMA_DTYPES = { wasm: ['fp32', 'q8', 'q4'], webgpu: ['fp32', 'q4'] } as const satisfies Record<
  string,
  readonly Dtype[]
>;

/** Serves the page with a hub, and opens it with a profile on disk. An incognito window would keep its storage in memory. */
async function withHub(
  repository: HubRepository,
  run: (tab: Tab, hub: HubServer, browser: Browser) => Promise<void>,
): Promise<void> {
  const hub = await startHubServer([repository]);
  const page = await serveBuiltPage(hub.url, requireEnvironment().reportUrl);
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-profile-'));
  const { browserPath: executablePath } = requireEnvironment();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    args: [...WEBGPU_ARGUMENTS],
    baseURL: page.url,
  });
  try {
    const browser = context.browser();
    if (!browser) throw new Error('The profile has no browser.');
    await run(new Tab(context, await context.newPage()), hub, browser);
  } finally {
    await context.close();
    await Promise.all([page.close(), hub.close()]);
    await rm(profile, { recursive: true, force: true });
  }
}

/** What the page and its GPU process have had at most, over what they have now, in bytes. */
async function memoryAbove(browser: Browser): Promise<number> {
  const above = ['renderer', 'GPU'].map(async (type) => {
    const [peak, now] = [await peakBytes(browser, type), await residentBytes(browser, type)];
    return Math.max(0, ...peak) - Math.max(0, ...now);
  });
  const [page = 0, gpu = 0] = await Promise.all(above);
  return page + gpu;
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
  await withHub(createRepository(FULL_SIZE, contents), async (tab, hub, browser) => {
    await tab.open(`?backend=${backend}`);
    await tab.ready();
    const startedAtMs = performance.now();
    // A CPU would take q8 by itself.
    const dtype = backend === 'wasm' ? 'fp32' : 'auto';
    const { value, message } = await loadModel(tab, FULL_SIZE, { hub: hub.url, dtype });
    expect(message).toBeUndefined();
    expect(value).toMatchObject({
      model: { id: FULL_SIZE, numParameters: 124_439_808 },
      backend: { name: backend },
    });
    const loadedAtMs = performance.now();
    const above = await memoryAbove(browser);
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
    console.log(
      `    ${FULL_SIZE} on ${backend}: ${inMegabytes(sent)} sent, ${stored?.dtype} of ${inMegabytes(stored?.storedBytes ?? 0)} stored, ` +
        `loaded in ${((loadedAtMs - startedAtMs) / 1000).toFixed(1)} s with ${inMegabytes(above)} above the final size, ` +
        `${results.length} x ${NUM_TOKENS} tokens in ${((performance.now() - loadedAtMs) / 1000).toFixed(1)} s`,
    );
    // The page and the GPU process both map an upload.
    expect(above).toBeLessThan(backend === 'wasm' ? MAX_GPT2_BYTES : 2 * MAX_GPT2_BYTES);
    expect(tab.errors).toEqual([]);
  });
});

test('a checkpoint of half a gigabyte takes three times its largest tensor more while it is loaded than when it serves', async ({
  backend,
}) => {
  test.skip(!IS_WHOLE, 'half a gigabyte: in the whole suite');
  test.setTimeout(1_800_000);
  const repository = createRepository(FULL_SIZE_LLAMA, fullSizeLlama());
  for (const dtype of LLAMA_DTYPES[backend])
    await withHub(repository, async (tab, hub, browser) => {
      await tab.open(`?backend=${backend}`);
      await tab.ready();
      const { message } = await loadModel(tab, FULL_SIZE_LLAMA, { hub: hub.url, dtype });
      expect(message).toBeUndefined();
      const above = await memoryAbove(browser);
      expect((await tab.generate('Once', { maxNewTokens: 2, ignoreEos: true })).tokenIds).toHaveLength(2);
      // The larger of what the file has and of what is loaded.
      const largest = LARGEST_TENSOR_BYTES * (dtype === 'fp32' ? 2 : 1);
      console.log(
        `    ${backend} ${dtype}: ${inMegabytes(above)} above the final size, largest tensor ${inMegabytes(largest)}`,
      );
      // The page and the GPU process both map an upload, so it counts twice.
      expect(above).toBeLessThan((backend === 'wasm' ? 3 : 4) * largest);
    });
});

function inMegabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

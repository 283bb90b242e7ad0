import type { Browser, Page } from 'playwright';

import type { BackendName } from '../peers/contender.ts';
import type { ContenderName, LibraryName, ReferenceAnswer, Setup } from './contender.ts';
import type { Played } from './page/play.ts';
import type { GpuRequest } from './plan.ts';

/** Give up on a library after this long. A case takes seconds, or a minute if its shaders compile. */
const PATIENCE_MS = 300_000;
/** Until the browser's GPU process has started, it says that there is no adapter. */
const ADAPTER_PATIENCE_MS = 10_000;

/** A library in a page with its own storage and worker. */
export class Entrant {
  readonly library: LibraryName;
  readonly runsOn: string;
  readonly #page: Page;

  private constructor(library: LibraryName, runsOn: string, page: Page) {
    this.library = library;
    this.runsOn = runsOn;
    this.#page = page;
  }

  static async open(
    { browser, url }: { readonly browser: Browser; readonly url: string },
    library: LibraryName,
    backend: BackendName,
    setup: Setup,
  ): Promise<Entrant> {
    const page = await openPage(browser, url);
    try {
      const loading = page.evaluate(([name, on, what]) => window.benchGpu.load(name, on, what), [
        library,
        backend,
        setup,
      ] as const);
      return new Entrant(library, await withPatience(loading, `loading ${setup.model.id}`), page);
    } catch (error) {
      await page.close();
      throw error;
    }
  }

  run(name: ContenderName, requests: readonly GpuRequest[]): Promise<Played> {
    const playing = this.#page.evaluate(([chosen, timed]) => window.benchGpu.run(chosen, timed), [
      name,
      requests,
    ] as const);
    return withPatience(playing, `${requests.length} requests`);
  }

  /** Only Tabserve has this call. */
  answer(prompts: readonly string[], maxNewTokens: number): Promise<readonly ReferenceAnswer[]> {
    const answering = this.#page.evaluate(([texts, count]) => window.benchGpu.answer(texts, count), [
      prompts,
      maxNewTokens,
    ] as const);
    return withPatience(answering, 'the answers to compare');
  }

  close(): Promise<void> {
    return this.#page.close();
  }
}

/** The benchmark's page, before it has loaded a library. */
export async function openPage(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage();
  page.on('pageerror', ({ message }) => console.error(`The page failed: ${message}`));
  await page.goto(url);
  await page.waitForFunction(() => 'benchGpu' in window);
  await page
    .waitForFunction(async () => Boolean(await navigator.gpu.requestAdapter()), undefined, {
      polling: 250,
      timeout: ADAPTER_PATIENCE_MS,
    })
    .catch((cause: unknown) => {
      throw new Error(`The browser offers no WebGPU adapter within ${ADAPTER_PATIENCE_MS / 1000} s`, {
        cause,
      });
    });
  return page;
}

async function withPatience<Value>(promise: Promise<Value>, what: string): Promise<Value> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took over ${PATIENCE_MS / 1000} s`)), PATIENCE_MS);
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

import { expect, type BrowserContext, type Locator, type Page } from 'playwright/test';

import type { GenerationChunk } from '../../src/client/responses.ts';
import type { GenerationResponse, ClientUpdate } from '../../src/client/index.ts';
import type { Prompt } from '../../src/protocol/chat.ts';
import type { BatchingPolicy, TabserveStatus } from '../../src/protocol/status.ts';
import type { GenerationOptions, GenerationResult } from '../../src/protocol/generation.ts';
import type { StepRecord } from '../../src/protocol/stats.ts';
import { installRecorder } from './recorder.ts';

export type Backend = 'webgpu' | 'wasm';

/** A prompt and options, well-formed or not, as a caller in the page may pass them. */
export interface PlainRequest {
  readonly prompt: unknown;
  readonly options?: object;
}

/** A handle, as a caller without types sees it. */
interface UntypedHandle {
  remote(prompt: unknown, options?: object): GenerationResponse;
}

export interface TextRequest extends PlainRequest {
  readonly prompt: Prompt;
  readonly options?: GenerationOptions;
}

export type Outcome<Value> =
  | { readonly value: Value; readonly code?: undefined; readonly message?: undefined }
  | { readonly value?: undefined; readonly code: string; readonly message: string };

/** How a request ended, and what its caller had read of it by then. */
export type Streamed = Outcome<GenerationResult> & {
  readonly streamed: { readonly text: string; readonly tokenIds: readonly number[] };
};

declare global {
  interface Window {
    begun?: GenerationResponse[];
  }
}

export const DEFAULT_KNOBS: Partial<BatchingPolicy> = {
  policy: 'continuous',
  maxBatchSize: 8,
  batchWaitTimeoutMs: 0,
  maxBatchedTokens: 256,
  prefillStallMs: 'auto',
  maxQueuedRequests: 1000,
  prefixCaching: true,
  promptLookup: true,
  kvCacheMemoryBytes: Infinity,
  maxContextLength: 4096,
};

/** Polling interval, ms. By default, Playwright polls in each frame, and a software adapter would have to draw each of them. */
const POLLING = { polling: 50 } as const;

/** Shows the options of a request and the batcher's knobs, which are closed at the start. */
export async function openAdvanced(page: Page): Promise<void> {
  await openDetails(page, 'Advanced');
}

async function openDetails(page: Page, title: string): Promise<void> {
  const summary = page.locator('summary', { hasText: title });
  const details = page.locator('details').filter({ has: summary, visible: true });
  if ((await details.getAttribute('open')) === null) await details.locator('> summary').click();
}

/** A tab of its own. Resolves when the page's model can run. */
export async function openTab(context: BrowserContext, backend: Backend): Promise<Tab> {
  const tab = new Tab(context, await context.newPage());
  await tab.open(`?backend=${backend}`);
  await tab.ready();
  return tab;
}

export class Tab {
  readonly page: Page;
  /** Errors on the console and uncaught ones. */
  readonly errors: string[] = [];
  readonly requestedUrls: string[] = [];

  constructor(context: BrowserContext, page: Page) {
    this.page = page;
    context.on('request', (request) => this.requestedUrls.push(request.url()));
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
  }

  /** Resolves once the page's client exists; its model may still be loading. */
  async open(query: string): Promise<void> {
    await this.page.goto(`/${query}`);
    await this.page.waitForFunction(() => 'tabserve' in window, undefined, POLLING);
    await this.page.evaluate(installRecorder);
  }

  /** Resolves when the model can run; fails with the page's own error. */
  async ready(): Promise<TabserveStatus> {
    const outcome = await this.page.evaluate(() =>
      window.tabserve.ready().then(
        (value) => ({ value }),
        (error: unknown) => ({ message: String(error) }),
      ),
    );
    if ('value' in outcome) return outcome.value;
    throw new Error(`The page did not become ready: ${outcome.message}`);
  }

  status(): Promise<TabserveStatus> {
    return this.page.evaluate(() => window.tabserve.status());
  }

  /** Opens the box of the chip, which has the facts about model and tabs, and the choice of a model. */
  async openStatus(): Promise<Locator> {
    const chip = this.page.getByRole('button', { name: /^Model and tabs/ });
    if ((await chip.getAttribute('aria-expanded')) === 'false') await chip.click();
    return this.page.getByRole('region', { name: 'Model and tabs' });
  }

  /** Picks the files of a model in the status box, and loads them. */
  async pickModel(
    label: 'or a folder' | 'or a GGUF file',
    files: Parameters<Locator['setInputFiles']>[0],
  ): Promise<void> {
    const box = await this.openStatus();
    await box.getByLabel(label).setInputFiles(files);
    await box
      .getByRole('region', { name: 'Picked files' })
      .getByRole('button', { name: /^Load / })
      .click();
  }

  /**
   * Begins many other texts of this length: they make the steps of all long enough to come between two of them.
   *
   * @returns How many.
   */
  async keepCompany(maxNewTokens: number): Promise<number> {
    const numOthers = 31;
    await this.configure({ maxBatchSize: 1 + numOthers });
    const other = { prompt: 'Once upon a time,', options: { maxNewTokens, temperature: 0, ignoreEos: true } };
    await this.begin(Array.from({ length: numOthers }, () => other));
    return numOthers;
  }

  /** Cancels all that `begin` has sent but for the first ones: company that is not needed any more. */
  cancelBegun(numKept = 0): Promise<void> {
    return this.page.evaluate((kept) => {
      for (const response of window.begun?.splice(kept) ?? []) response.cancel();
    }, numKept);
  }

  configure(knobs: Partial<BatchingPolicy>): Promise<BatchingPolicy> {
    return this.page.evaluate((change) => window.tabserve.configure('text-generator', change), knobs);
  }

  async generateAll(requests: readonly TextRequest[]): Promise<GenerationResult[]> {
    const outcomes = await this.outcomesOf(requests);
    return outcomes.map(({ value, code, message }) => {
      if (value) return value;
      throw new Error(`A request failed: ${code}: ${message}`);
    });
  }

  async generate(prompt: Prompt, options: GenerationOptions = {}): Promise<GenerationResult> {
    const [result] = await this.generateAll([{ prompt, options }]);
    if (!result) throw new Error('No result');
    return result;
  }

  /** Submits all requests at once and waits for all. A failure is an outcome. */
  outcomesOf(requests: readonly PlainRequest[]): Promise<Outcome<GenerationResult>[]> {
    return this.page.evaluate((plain) => {
      const generator: UntypedHandle = window.tabserve.getHandle('text-generator');
      const responses = plain.map(({ prompt, options }) => generator.remote(prompt, options));
      return Promise.all(
        responses.map((response) =>
          response.result().then(
            (value) => ({ value }),
            (error: Error & { code: string }) => ({ code: error.code, message: error.message }),
          ),
        ),
      );
    }, requests);
  }

  readStream(prompt: string, options: GenerationOptions) {
    return this.page.evaluate(
      async ([text, given]) => {
        const response = window.tabserve.getHandle('text-generator').remote(text, given);
        const chunks: GenerationChunk[] = [];
        for await (const chunk of response) chunks.push(chunk);
        return { chunks, result: await response.result() };
      },
      [prompt, options] as const,
    );
  }

  begin(requests: readonly TextRequest[]): Promise<void> {
    return this.page.evaluate((plain) => {
      const generator = window.tabserve.getHandle('text-generator');
      const begun = plain.map(({ prompt, options }) => generator.remote(prompt, options));
      window.begun = [...(window.begun ?? []), ...begun];
    }, requests);
  }

  /** Begins the requests again whenever they have ended, until this tab leads: some always run. Returns how often. */
  beginUntilLeading(requests: readonly TextRequest[]): Promise<number> {
    return this.page.evaluate(async (plain) => {
      const generator = window.tabserve.getHandle('text-generator');
      let numTimes = 0;
      while (window.tabserve.status().role !== 'leader') {
        numTimes += 1;
        const begun = plain.map(({ prompt, options }) => generator.remote(prompt, options));
        window.begun = [...(window.begun ?? []), ...begun];
        await Promise.all(begun.map((response) => response.result()));
      }
      return numTimes;
    }, requests);
  }

  /** Resolves when all requests of `begin` have ended. Returns the result and the streamed text of each, in order. */
  outcomesOfBegun(): Promise<Streamed[]> {
    return this.page.evaluate(() =>
      Promise.all(
        (window.begun ?? []).map(async (response) => {
          const streamed = { text: '', tokenIds: new Array<number>() };
          try {
            for await (const { text, tokenIds } of response) {
              streamed.text += text;
              streamed.tokenIds.push(...tokenIds);
            }
            return { streamed, value: await response.result() };
          } catch (error) {
            // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all errors of a response have a code
            const { code, message } = error as Error & { code: string };
            return { streamed, code, message };
          }
        }),
      ),
    );
  }

  /** Resolves when requests of this tab have generated this many tokens together. */
  async whenStreamed(numTokens: number): Promise<void> {
    await this.page.waitForFunction(
      (wanted) => window.recorder.updates.filter(({ type }) => type === 'chunk').length >= wanted,
      numTokens,
      POLLING,
    );
  }

  /** Resolves when no request runs or waits, and every step is recorded. */
  async whenIdle(): Promise<void> {
    await this.page.waitForFunction(() => window.recorder.isIdle(), undefined, POLLING);
  }

  /** Every step since the last `forget()`, once the engine is idle. */
  async steps(kind: StepRecord['kind']): Promise<StepRecord[]> {
    await this.whenIdle();
    const steps = await this.page.evaluate(() => window.recorder.steps);
    return steps.filter((step) => step.kind === kind);
  }

  updates(): Promise<ClientUpdate[]> {
    return this.page.evaluate(() => window.recorder.updates);
  }

  forget(): Promise<void> {
    return this.page.evaluate(() => window.recorder.clear());
  }

  /** Opens the charts that are closed at first. They stay open. */
  async openMoreCharts(): Promise<void> {
    await openDetails(this.page, 'More charts');
  }

  async openLab(): Promise<void> {
    const button = this.page.locator('.lab-button');
    if ((await button.getAttribute('aria-expanded')) !== 'true') await button.click();
    await expect(this.page.locator('.lab')).toBeVisible();
  }

  /** Closes the box of the chip, and takes the rows of all requests from the page's list, once they are over. */
  async clearList(): Promise<void> {
    // In one trip: most tests end with it. The page draws a request some frames after its end, at most one for each 50 ms.
    await this.page.waitForFunction(
      async () => {
        if (document.querySelector('[data-status=waiting], [data-status=running]')) return false;
        document.querySelector<HTMLElement>('[aria-label^="Model and tabs"][aria-expanded=true]')?.click();
        const buttons = [...document.querySelectorAll('button')];
        buttons.find(({ textContent }) => textContent === 'Clear finished')?.click();
        for (let frame = 0; frame < 4; frame++) {
          if (document.querySelector('[data-request-id]')) return false;
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
        return true;
      },
      undefined,
      POLLING,
    );
  }

  /** Requests to any other origin than the page's own. */
  get foreignUrls(): readonly string[] {
    const { origin } = new URL(this.page.url());
    return this.requestedUrls.filter((url) => !url.startsWith(origin) && !/^(?:data|blob):/.test(url));
  }
}

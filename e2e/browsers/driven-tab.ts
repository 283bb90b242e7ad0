import type { GenerationOptions } from '../../src/protocol/generation.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';

/** A browser that a test drives over its own protocol. */
export interface DrivenBrowser {
  readonly version: string;
  open(url: string): Promise<DrivenPage>;
  close(): Promise<void>;
}

export interface DrivenPage {
  /** Returns the value of an expression, or of its promise, as JSON carries it. */
  evaluate(expression: string): Promise<unknown>;
  close(): Promise<void>;
}

export class DrivenTab {
  readonly #page: DrivenPage;
  #isClosed = false;

  constructor(page: DrivenPage) {
    this.#page = page;
  }

  /** Runs a function in the page and awaits what it returns; its argument and its result cross as JSON. */
  async evaluate<Result, Argument = undefined>(
    run: (argument: Argument) => Result | Promise<Result>,
    argument?: Argument,
  ): Promise<Result> {
    const result = await this.#page.evaluate(`(${String(run)})(${JSON.stringify(argument)})`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the function returns
    return result as Result;
  }

  /** Resolves once the client exists: it comes with the page's own scripts, after the load event. */
  async connected(): Promise<void> {
    await this.evaluate(async () => {
      while (!('tabserve' in window)) await new Promise((resolve) => setTimeout(resolve, 10));
    });
  }

  /** Resolves when the model can run; fails with the page's own error. */
  ready(): Promise<TabserveStatus> {
    return this.evaluate(() => window.tabserve.ready());
  }

  status(): Promise<TabserveStatus> {
    return this.evaluate(() => window.tabserve.status());
  }

  /** Submits all requests at once. Returns the token ids of each. */
  generateAll(prompts: readonly string[], options: GenerationOptions): Promise<readonly number[][]> {
    return this.evaluate(
      ([texts, given]) => {
        const generator = window.tabserve.getHandle('text-generator');
        const responses = texts.map((text) => generator.remote(text, given));
        return Promise.all(responses.map(async (response) => [...(await response.result()).tokenIds]));
      },
      [prompts, options] as const,
    );
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#page.close();
  }
}

import { expect, type BrowserContext } from 'playwright/test';

import { Tab, type Backend } from './tab.ts';

/** Several tabs of one site, in one browser profile. */
export class Site {
  readonly context: BrowserContext;
  readonly tabs: Tab[] = [];
  readonly #backend: Backend;

  constructor(context: BrowserContext, backend: Backend) {
    this.context = context;
    this.#backend = backend;
  }

  /** Resolves once the page's client exists; its worker, or another tab's, may still be loading. */
  async open(): Promise<Tab> {
    const tab = new Tab(this.context, await this.context.newPage());
    this.tabs.push(tab);
    await tab.open(`?backend=${this.#backend}`);
    return tab;
  }

  /** At the same time; resolves when all are served. */
  async openReady(count: number): Promise<Tab[]> {
    const tabs = await Promise.all(Array.from({ length: count }, () => this.open()));
    await Promise.all(tabs.map((tab) => tab.ready()));
    return tabs;
  }

  async openPair(): Promise<readonly [Tab, Tab]> {
    const [first, second] = await this.openReady(2);
    if (!first || !second) throw new Error('Two tabs were asked for');
    return [first, second];
  }

  /** The page starts anew, as another client. */
  async reload(tab: Tab): Promise<void> {
    await tab.open(`?backend=${this.#backend}`);
  }

  async close(tab: Tab): Promise<void> {
    this.#forget(tab);
    await tab.page.close();
  }

  /** Its process ends without a word. */
  async crash(tab: Tab): Promise<void> {
    this.#forget(tab);
    const crashed = tab.page.waitForEvent('crash');
    // Never resolves: the page is gone.
    tab.page.goto('chrome://crash').catch(() => {});
    await crashed;
    await tab.page.close();
  }

  /** The tab leaves the site once another one has so many chunks, by itself: on a busy machine, a test would hear of them too late. */
  async endOnceStreamed({ page }: Tab, other: Tab, numChunks: number): Promise<void> {
    await page.evaluate(() => {
      // A second one would begin the navigation anew.
      new BroadcastChannel('end').addEventListener('message', () => location.replace('about:blank'), {
        once: true,
      });
    });
    await other.page.evaluate((count) => {
      const channel = new BroadcastChannel('end');
      let numLeft = count;
      window.tabserve.subscribe('requests', (updates) => {
        numLeft -= updates.filter(({ type }) => type === 'chunk').length;
        if (numLeft <= 0) channel.postMessage('');
      });
    }, numChunks);
  }

  /**
   * Freezes a tab, as the browser does after it was hidden for long. A headless page is always visible and never frozen, so the
   * test dispatches the event and the debugger stops the page's thread. Resolves with a function that thaws the tab.
   */
  async freeze(tab: Tab): Promise<() => Promise<void>> {
    await tab.page.evaluate(() => document.dispatchEvent(new Event('freeze')));
    const thaw = await this.hang(tab);
    return async () => {
      await thaw();
      await tab.page.evaluate(() => document.dispatchEvent(new Event('resume')));
    };
  }

  /** Stops the page's own thread; its worker goes on. Resolves with a function that ends this. */
  async hang(tab: Tab): Promise<() => Promise<void>> {
    this.#forget(tab);
    const session = await this.context.newCDPSession(tab.page);
    await session.send('Debugger.enable');
    await session.send('Debugger.pause');
    const paused = new Promise((resolve) => void session.once('Debugger.paused', resolve));
    // The pause takes effect at the next line that the page runs.
    tab.page.evaluate(() => 0).catch(() => {});
    await paused;
    return async () => {
      await session.send('Debugger.resume');
      await session.detach();
      this.tabs.push(tab);
    };
  }

  /** The one tab that leads; fails where there are two. */
  async leader(): Promise<Tab> {
    let leaders: Tab[] = [];
    await expect
      .poll(
        async () => {
          const roles = await Promise.all(this.tabs.map(async (tab) => (await tab.status()).role));
          leaders = this.tabs.filter((_, index) => roles[index] === 'leader');
          return leaders.length;
        },
        { message: 'tabs that lead' },
      )
      .toBe(1);
    const [leader] = leaders;
    if (!leader) throw new Error('No tab leads.');
    return leader;
  }

  async followers(): Promise<Tab[]> {
    const leader = await this.leader();
    return this.tabs.filter((tab) => tab !== leader);
  }

  /** Workers that serve, in all tabs. The runtime's own threads are not counted. */
  get numWorkers(): number {
    return this.context
      .pages()
      .flatMap((page) => page.workers())
      .filter((worker) => /\/main-[^/]*\.js$/.test(worker.url())).length;
  }

  #forget(tab: Tab): void {
    this.tabs.splice(this.tabs.indexOf(tab), 1);
  }
}

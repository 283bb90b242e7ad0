import parsePrometheusTextFormat from 'parse-prometheus-text-format';

import type { TabserveStats } from '../src/protocol/stats.ts';
import { expectNoViolations } from './support/axe.ts';
import { expect, expectIdle, test } from './support/bridge-test.ts';
import { pressOn } from './support/keyboard.ts';
import { openTab } from './support/tab.ts';
import { ANY_BACKEND } from './support/test.ts';

declare global {
  interface Window {
    lastStats?: TabserveStats;
  }
}

test(
  'a Prometheus parser reads the metrics, which say what the page does',
  {
    tag: ANY_BACKEND,
  },
  async ({ served }) => {
    const { tab, url } = served;
    await tab.page.evaluate(() => window.tabserve.subscribe('stats', (stats) => (window.lastStats = stats)));
    await Promise.all([
      tab.generateAll(['Once', 'My'].map((prompt) => ({ prompt, options: { maxNewTokens: 5 } }))),
      fetch(`${url}/?text=Once+upon&maxNewTokens=300&n=3`, { headers: { Accept: 'application/json' } }),
      fetch(`${url}/?text=&maxNewTokens=3`),
      ...[1, 2, 3].map((number) => fetch(`${url}/adder?number=${number}`)),
    ]);
    await expectIdle(tab);

    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const families = new Map(
      parsePrometheusTextFormat(await answer.text()).map((family) => [family.name, family]),
    );
    const sampleOf = (name: string, labels: Readonly<Record<string, string>> = {}) =>
      families
        .get(name)
        ?.metrics.find((sample) =>
          Object.entries(labels).every(([label, value]) => sample.labels?.[label] === value),
        );
    const valueOf = (name: string, labels?: Readonly<Record<string, string>>): number =>
      Number(sampleOf(name, labels)?.value ?? 0);

    const metrics = () => ({
      promptTokens: valueOf('vllm:prompt_tokens_total'),
      outputTokens: valueOf('vllm:generation_tokens_total'),
      prefixCacheQueries: valueOf('vllm:prefix_cache_queries_total'),
      finished: Number(sampleOf('vllm:e2e_request_latency_seconds')?.count),
      rejected: valueOf('serve_requests_rejected_total', { code: 'EMPTY_PROMPT' }),
      length: valueOf('vllm:request_success_total', { finished_reason: 'length' }),
      stop: valueOf('vllm:request_success_total', { finished_reason: 'stop' }),
      running: valueOf('vllm:num_requests_running'),
      waiting: valueOf('vllm:num_requests_waiting'),
    });
    // The page draws new figures within 100 ms.
    await expect
      .poll(() =>
        tab.page.evaluate(() => {
          const { totals, finishReasons, numRunning, numWaiting } = window.lastStats ?? {};
          return {
            promptTokens: totals?.promptTokens,
            outputTokens: totals?.outputTokens,
            prefixCacheQueries: totals?.prefixCacheQueries,
            finished: totals?.finished,
            rejected: totals?.rejected,
            length: finishReasons?.length,
            stop: finishReasons?.stop,
            running: numRunning,
            waiting: numWaiting,
          };
        }),
      )
      .toEqual({ ...metrics(), rejected: expect.any(Number) });
    expect(metrics().outputTokens).toBeGreaterThan(20);
    expect(metrics().rejected).toBeGreaterThan(0);

    const batches = await tab.page.evaluate(() => window.tabserve.batches('adder'));
    expect(valueOf('serve_batches_processed_total', { deployment: 'adder' })).toBe(batches.length);
    for (const reason of ['idle', 'full'] as const) {
      const cut = batches.filter((batch) => batch.reason === reason);
      expect(valueOf('serve_batches_cut_total', { deployment: 'adder', reason })).toBe(cut.length);
    }

    const answered = { route: '/adder', method: 'GET', status_code: '200' };
    expect(valueOf('serve_num_http_requests_total', answered)).toBeGreaterThanOrEqual(3);
    expect(families.get('serve_http_request_latency_ms')?.type).toBe('HISTOGRAM');
  },
);

test(
  'the menu says who called, what it took and what failed, and ejects the model until the next request',
  { tag: ANY_BACKEND },
  async ({ served: { tab, url }, backend }) => {
    const { page } = tab;
    const second = await openTab(page.context(), backend);
    await tab.generate('Once', { maxNewTokens: 4 });
    await second.generate('Once', { maxNewTokens: 5 });
    await second.page.close();
    await fetch(`${url}/?text=Once+upon&maxNewTokens=3`);
    await fetch(`${url}/?text=&maxNewTokens=3`);

    await pressOn(page, page.getByRole('button', { name: 'Menu', exact: true }));
    await pressOn(page, page.getByRole('button', { name: 'Requests, memory and disk' }));
    const dialog = page.getByRole('dialog', { name: 'Requests, memory and disk' });
    const rows = dialog.locator('tbody').getByRole('row');
    const newest = [
      /HTTP, this machine.*Failed: EMPTY_PROMPT/,
      /prompt is empty/,
      /HTTP, this machine.*text-generator.*3.*ms.*Done/,
      /Tab \d+, closed.*text-generator.*5.*ms.*Done/,
      /this one|This tab/,
    ];
    for (const [index, text] of newest.entries()) await expect(rows.nth(index)).toHaveText(text);
    await pressOn(page, dialog.getByRole('checkbox', { name: /Only failed/ }), 'Space');
    await expect(rows.filter({ hasText: 'Done' })).toHaveCount(0);
    await expect(rows.first()).toHaveText(/EMPTY_PROMPT/);
    await expect(dialog.getByRole('figure').filter({ hasText: 'Tokens/s' })).toContainText(/highest [1-9]/);
    await expectNoViolations(page, 'the log');
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      // The charts take their new width in the next frame.
      const overflow = () => dialog.evaluate((box) => box.scrollWidth - box.clientWidth);
      await expect.poll(overflow, `what is cut at ${width} px`).toBe(0);
    }

    await pressOn(page, dialog.getByRole('button', { name: 'Eject' }));
    await expect(dialog).toContainText('Ejected.');
    expect((await tab.status()).isEjected).toBe(true);
    expect(await (await fetch(`${url}/?text=Once+upon&maxNewTokens=3`)).text()).toContain('Once upon');
    await expect(dialog).toContainText(/In memory for all tabs: [\d.]+ MB with one text/);
    expect((await tab.status()).isEjected).toBeUndefined();
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await page.keyboard.press('Escape');
  },
);

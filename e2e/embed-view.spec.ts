import type { Page } from 'playwright/test';

import { expectNoViolations } from './support/axe.ts';
import { EMBEDDING_MODEL, loadModel, RERANKING_MODEL, test } from './support/hub-test.ts';
import { pressOn, typeInto } from './support/keyboard.ts';
import { ANY_BACKEND, expect } from './support/test.ts';

const LINES = [
  'the quick brown fox',
  'a lazy dog jumped over the fox',
  'seven wizards search for a text',
  'the wizard jumps',
  'foxes and dogs',
  'text in a text',
];

const knobsOf = (page: Page) =>
  page.evaluate(() => window.tabserve.status().deployments.find(({ name }) => name === 'embedder')?.knobs);

/** The lines by the cosines of the vectors that the embedder gives, which has a prompt for queries. */
function nearestLines(page: Page, query: string): Promise<string[]> {
  return page.evaluate(
    async ([lines, asked]) => {
      const embedder = window.tabserve.getHandle('embedder');
      const vectors = await embedder.remote(lines);
      const { embedding } = await embedder.remote(asked, { prompt: 'query' });
      const cosineOf = (index: number): number =>
        vectors[index]?.embedding.reduce((sum, value, at) => sum + value * (embedding[at] ?? NaN), 0) ?? NaN;
      return lines
        .map((line, index) => ({ line, cosine: cosineOf(index) }))
        .toSorted((a, b) => b.cosine - a.cosine)
        .map(({ line }) => line);
    },
    [LINES, query] as const,
  );
}

test(
  'by the keyboard alone lines are embedded with the model that the view offers, searched, compared and load tested',
  { tag: ANY_BACKEND },
  async ({ ownTab, hub, backend }) => {
    const { page } = ownTab;
    const query = page.getByRole('textbox', { name: 'Find lines that mean this' });
    const hits = page.getByRole('list', { name: 'Nearest lines' }).getByRole('listitem');

    await test.step('a model is loaded', async () => {
      await ownTab.open(`?backend=${backend}&hub=${encodeURIComponent(hub.url)}&view=embed`);
      const load = page.getByRole('button', { name: `Load ${EMBEDDING_MODEL}` });
      await expect(load).toBeEnabled();
      await expectNoViolations(page);
      await pressOn(page, load);
      await typeInto(page, page.getByRole('textbox', { name: 'One text a line' }), LINES.join('\n'));
    });

    await test.step('lines are embedded, and their batches are drawn', async () => {
      await pressOn(page, page.getByRole('button', { name: 'Embed', exact: true }));
      await expect(page.getByTestId('embed-progress')).toHaveText(
        /^6 lines in .* texts\/s, by all-MiniLM-L6-v2\.$/,
      );
      const chart = page.locator('[data-chart=batch-tokens-chart] p').first();
      await expect(chart).toHaveText(/^[12] batch.*padding$/);
    });

    await test.step('a search has the nearest lines first', async () => {
      const lines = await nearestLines(page, 'the wizard jumps');
      await typeInto(page, query, 'the wizard jumps');
      await expect(hits).toContainText(lines);
    });

    await test.step('a reranker orders the hits', async () => {
      await loadModel(ownTab, RERANKING_MODEL, { hub: hub.url });
      await pressOn(page, page.getByRole('checkbox', { name: 'Rerank the first 20' }), 'Space');
      await expect(hits.first()).toContainText(/rank 0\.\d{3}/);
      const ranks = (await hits.allTextContents()).map((text) => Number(text.split('rank ').at(-1)));
      expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
    });

    await test.step('ways to embed are compared, with the same vectors, and the knobs stay', async () => {
      const knobs = await knobsOf(page);
      await pressOn(page, page.getByRole('button', { name: 'Compare', exact: true }));
      await expect(page.getByText('The vectors are the same each time, within 0.00001.')).toBeVisible();
      expect(await knobsOf(page)).toEqual(knobs);
      await expectNoViolations(page.getByRole('tabpanel'));
    });

    await test.step('a load test measures the knobs in force, and leaves the comparison to the view', async () => {
      const knobs = await knobsOf(page);
      const lab = page.getByRole('complementary', { name: 'Load lab' });
      await pressOn(page, page.getByRole('button', { name: 'Load lab' }));
      await expect(lab.getByText('Press Start')).toHaveText(
        'Measure sends the requests under the settings in force. Press Start.',
      );
      await expect(lab.getByRole('radio', { name: 'Compare' })).toHaveCount(0);
      await expect(lab.getByText('Output length')).toHaveCount(0);
      await typeInto(page, lab.locator('[name=durationSeconds]'), '0.5');
      await pressOn(page, lab.getByRole('button', { name: 'Start' }));
      await expect(lab.locator('.load-progress output')).toHaveText(/^The load test is over/);
      await expect(lab.getByText(/^([1-9][\d,]*) of \1$/)).toBeVisible();
      expect(await knobsOf(page)).toEqual(knobs);
      await expectNoViolations(lab);
    });

    await test.step('the model is back after a reload, without a question', async () => {
      await page.reload();
      await expect(page.getByRole('textbox', { name: 'One text a line' })).toBeVisible();
      expect(ownTab.errors).toEqual([]);
    });
  },
);

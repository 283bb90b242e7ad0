import { readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright/test';

import type { Job } from '../src/client/index.ts';
import { axeViolations, expectNoViolations } from './support/axe.ts';
import { blur, pressOn, tabTo } from './support/keyboard.ts';
import { traceMainThread } from './support/main-thread.ts';
import { shareSite } from './support/shared-site.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';

const NUM_ROWS = 20;

/** Rows of the table that is scrolled. A browser context of Playwright keeps files in its main process, so a row takes over a millisecond. */
const NUM_TABLE_ROWS = IS_WHOLE ? 100_000 : 2200;

/** A task that blocks the page for longer than this is felt, ms. */
const LONG_TASK_MS = 50;

const csv = [
  'id,text,constructor',
  ...Array.from(
    { length: NUM_ROWS },
    (_, index) => `${index + 1},"A story, number ${index + 1}",=1+${index}`,
  ),
].join('\n');

const rowsOf = (page: Page): Locator => page.getByRole('table', { name: 'Rows' }).locator('tbody tr');

async function chooseFile(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
  await page.getByLabel('File of rows').setInputFiles(file);
}

/** Without the picker of files, which no test can answer: the browser downloads instead. */
async function exported(page: Page, format: string, switches: readonly string[] = []): Promise<string> {
  await page.evaluate(() => Object.assign(window, { showSaveFilePicker: undefined }));
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  for (const name of switches) await page.getByRole('checkbox', { name }).press('Space');
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: format }).click();
  const text = await readFile(await (await downloading).path(), 'utf8');
  await page.keyboard.press('Escape');
  return text;
}

// A page of its own, since a view that was opened stays there.
const openTabs = shareSite();
let tab: Tab;

test.beforeEach(async () => {
  tab = await (await openTabs(1)).leader();
});

test(
  'a table of many rows scrolls without a blank frame, also by the keyboard',
  {
    tag: ANY_BACKEND,
  },
  async () => {
    const { page } = tab;
    if (IS_WHOLE) test.setTimeout(1_200_000);
    await page.evaluate(async (numRows) => {
      const rows = Array.from({ length: numRows }, (_, index) => ({ text: `Text ${index + 1}` }));
      const job: Job = await window.tabserve.jobs.create({ rows, template: '{{text}}' });
      await job.cancel();
    }, NUM_TABLE_ROWS);
    await page.getByRole('tab', { name: 'Jobs' }).click();
    await expect(rowsOf(page).first()).toContainText('Text 1');

    const { numFrames, leastCovered } = await page.evaluate(scrollAbout, IS_WHOLE ? 150 : 60);
    test.info().annotations.push({ type: 'frames', description: `${numFrames}, covered ${leastCovered}` });
    expect(leastCovered, 'the part of the box that rows cover in the emptiest frame').toBeGreaterThan(0.95);

    const box = page.getByRole('region', { name: 'Rows, which scroll' });
    await blur(page);
    await tabTo(page, box);
    await page.keyboard.press('End');
    await expect(rowsOf(page).last()).toContainText(`Text ${NUM_TABLE_ROWS}`);
    await page.keyboard.press('PageUp');
    await expect(rowsOf(page).last()).not.toContainText(`Text ${NUM_TABLE_ROWS}`);
    await page.keyboard.press('Home');
    await expect(rowsOf(page).first()).toContainText('Text 1');
    await pressOn(page, page.getByRole('button', { name: 'Show row 2', exact: true }));
    await expect(page.getByRole('heading', { name: 'Row 2' })).toBeFocused();
    await pressOn(page, page.getByRole('region', { name: 'Row 2' }).getByRole('button', { name: 'Close' }));
    await expect(page.getByRole('heading', { name: 'Row 2' })).toHaveCount(0);
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete this job' }).click();
    await expect(page.getByText('No job yet.')).toBeVisible();
  },
);

test(
  'a file becomes a job, whose rows come into the table while it runs',
  { tag: ANY_BACKEND },
  async ({ browser }) => {
    const { page } = tab;
    await page.getByRole('tab', { name: 'Jobs' }).click();

    await test.step('a file that is not what its name says is refused', async () => {
      await chooseFile(page, 'rows.json', csv);
      await expect(page.getByText('rename it to .csv')).toBeVisible();
      await expect(page.getByRole('button', { name: 'Run all rows' })).toBeDisabled();
    });

    await test.step('the first rows are shown as prompts, with their answers on demand', async () => {
      await chooseFile(page, 'rows.csv', csv);
      await page.getByRole('button', { name: 'Classify' }).click();
      const preview = page.getByRole('region', { name: 'The first rows' });
      await expect(preview.getByRole('listitem').first()).toContainText('Text: A story, number 1');
      await preview.getByRole('button', { name: 'Try these 3 rows' }).click();
      await expect(preview.locator('mark').filter({ hasText: /positive|neutral|negative/ })).toHaveCount(3);
      await expect(
        preview.getByText(/^Estimate for 20 rows: .* tokens read and .* written\.$/),
      ).toBeVisible();
      expect(await axeViolations(page.getByRole('tabpanel')), 'the new job').toEqual([]);
    });

    const { tasks } = await traceMainThread(browser, page, async () => {
      await page.getByRole('button', { name: 'Run all rows' }).click();
      await expect(page.getByText(`Finished: ${NUM_ROWS} rows`).first()).toBeVisible();
    });
    const longTasks = tasks.filter(({ cpuMs }) => cpuMs > LONG_TASK_MS);
    test.info().annotations.push({ type: 'tasks over 50 ms', description: JSON.stringify(longTasks) });
    expect(longTasks, 'tasks that block the page').toEqual([]);

    await test.step('the job says what it took, and its rows have shared steps', async () => {
      await expect(page.locator('.job-state')).toHaveText(
        /^Finished: 20 rows [\d.]+ m?s · [\d.,]+ rows\/s · [\d,]+ tokens read, [\d,]+ written · storyteller$/,
      );
      const peak = page
        .getByRole('tabpanel')
        .locator('.figure')
        .filter({ hasText: 'Peak batch' })
        .locator('dd');
      expect(Number(await peak.textContent())).toBeGreaterThanOrEqual(4);
    });

    const answers: string[] = [];
    await test.step('each row has one of the choices, in the table and in both exports', async () => {
      await expect(
        rowsOf(page)
          .locator('td:last-child')
          .filter({ hasNotText: /^[01]\.\d{3}$/ }),
      ).toHaveCount(0);
      for (const text of await rowsOf(page).locator('td:nth-last-child(2)').allTextContents())
        answers.push(text);
      expect(answers.every((text) => /^ (positive|neutral|negative)$/.test(text))).toBe(true);
      const shares = page.getByRole('table', { name: 'Choices' }).locator('tbody tr td:nth-child(2)');
      await expect
        .poll(async () => (await shares.allTextContents()).reduce((sum, text) => sum + Number(text), 0))
        .toBe(NUM_ROWS);
      const [head, ...lines] = (await exported(page, 'CSV, with')).trimEnd().split(/\r?\n/);
      expect(head).toBe('id,text,constructor,result,choiceProbabilities,error');
      expect(lines).toHaveLength(NUM_ROWS);
      expect(lines[0]).toContain(`1,"A story, number 1",'=1+0,`);
      const forExcel = await exported(page, 'CSV, with', ['For Excel', 'Keep formulas']);
      expect(forExcel).toContain(
        '\uFEFFid,text,constructor,result,choiceProbabilities,error\r\n1,"A story, number 1",=1+0,',
      );
      await page.getByRole('button', { name: 'Export', exact: true }).click();
      await expectNoViolations(page.locator('.job-actions'), 'exports');
      await page.keyboard.press('Escape');
      const records = (await exported(page, 'JSONL, with')).trimEnd().split('\n');
      expect(JSON.parse(records[0] ?? '')).toMatchObject({ constructor: '=1+0', result: answers[0] });
      expect(records.map((line) => JSON.parse(line).id)).toEqual(
        Array.from({ length: NUM_ROWS }, (_, index) => String(index + 1)),
      );
    });

    await test.step('a row is shown as a whole, found by a search, and filtered', async () => {
      await page.getByRole('button', { name: 'Show row 3', exact: true }).click();
      await expect(page.getByRole('region', { name: 'Row 3' })).toContainText('A story, number 3');
      await expectNoViolations(page.getByRole('region', { name: 'Row 3' }), 'a row');
      await page.getByRole('tab', { name: 'Text' }).click();
      await page.getByRole('tab', { name: 'Jobs' }).click();
      await page.getByRole('button', { name: 'Run again' }).click();
      await expect
        .poll(() =>
          page.evaluate(async () => {
            const [job] = await window.tabserve.jobs.list();
            return [job?.info.numRetries, job?.info.counts.finished];
          }),
        )
        .toEqual([1, NUM_ROWS]);
      await expect(page.getByRole('region', { name: 'Row 3' })).toContainText(/Answer, \d/);
      await expect(rowsOf(page).nth(2)).toHaveText(/\.\d{3}$/);
      answers.splice(
        0,
        answers.length,
        ...(await rowsOf(page).locator('td:nth-last-child(2)').allTextContents()),
      );
      await page.getByLabel('Search').fill('NUMBER 17');
      await expect(rowsOf(page)).toHaveCount(1);
      await expect(rowsOf(page)).toContainText('A story, number 17');
      await page.getByLabel('Search').fill('');
      await page.getByRole('radio', { name: 'Failed' }).check();
      await expect(page.getByText('No row matches.')).toBeVisible();
      await page.getByRole('radio', { name: 'All' }).check();
    });

    await test.step('another tab shows the same job, and a job that one tab deletes is gone in both', async () => {
      const other = await page.context().newPage();
      await other.goto(page.url());
      await expect(other.getByText(`Finished: ${NUM_ROWS} rows`).first()).toBeVisible();
      await expect(rowsOf(other).locator('td:nth-last-child(2)').first()).toHaveText(answers[0] ?? '');
      await other.getByRole('button', { name: 'Rename' }).click();
      await other.getByRole('textbox', { name: 'Name' }).fill('Stories');
      await other.keyboard.press('Enter');
      await expect(page.getByRole('heading', { name: 'Stories' })).toBeVisible();
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await page.getByRole('button', { name: 'Delete this job' }).click();
      await expect(other.getByText('No job yet.')).toBeVisible();
      await other.close();
    });
  },
);

/** Runs in the page: jumps and wheels through the rows. Returns the smallest part of the box that rows with a text cover in a frame. */
async function scrollAbout(count: number): Promise<{ numFrames: number; leastCovered: number }> {
  const box = document.querySelector('.job-rows');
  if (!box) throw new Error('No table');
  let leastCovered = 1;
  let numFrames = 0;
  for (; numFrames < count; numFrames += 1) {
    const isJump = numFrames % 10 === 0;
    box.scrollTop = isJump ? box.scrollHeight * ((numFrames * 0.618) % 1) : box.scrollTop + 137;
    await new Promise(requestAnimationFrame);
    const { top, bottom } = box.getBoundingClientRect();
    let covered = box.querySelector('thead')?.clientHeight ?? 0;
    for (const row of box.querySelectorAll('tbody tr')) {
      const place = row.getBoundingClientRect();
      const height = Math.min(bottom, place.bottom) - Math.max(top + covered, place.top);
      if (/Text \d/.test(row.textContent)) covered += Math.max(0, height);
    }
    leastCovered = Math.min(leastCovered, covered / (bottom - top));
  }
  return { numFrames, leastCovered };
}

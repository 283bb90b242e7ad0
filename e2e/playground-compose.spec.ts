import { readFile } from 'node:fs/promises';
import type { Download, Locator, Page } from 'playwright/test';

import { axeViolations, expectNoViolations } from './support/axe.ts';
import { tabTo } from './support/keyboard.ts';
import { openAdvanced } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

/** A batch wait that no test outlasts: what is sent stays waiting. */
const HELD_MS = 3_600_000;

const promptOf = (page: Page): Locator => page.getByRole('textbox', { name: 'Prompt' });
const marksOf = (page: Page): Locator => page.getByTestId('document').locator('mark');
const optionOf = (page: Page, name: string): Locator => page.getByRole('textbox', { name });

async function readJson(download: Download): Promise<unknown> {
  return JSON.parse(await readFile(await download.path(), 'utf8'));
}

test.describe('the playground', { tag: ANY_BACKEND }, () => {
  test.beforeEach(async ({ tab }) => {
    await openAdvanced(tab.page);
    await optionOf(tab.page, 'Max new tokens').fill('8');
    await optionOf(tab.page, 'Seed').fill('7');
  });

  test.afterEach(async ({ tab }) => {
    await tab.page.getByRole('button', { name: 'Reset all' }).click();
  });

  test('continues the text in its own document, marked, and goes on from there', async ({ tab }) => {
    const { page } = tab;
    const { text, generatedText } = await tab.generate('Once upon a time,', { maxNewTokens: 8, seed: 7 });
    await promptOf(page).fill('Once upon a time,');
    await promptOf(page).press('Control+Enter');
    await expect(promptOf(page)).toHaveValue(text);
    await expect(marksOf(page)).toHaveText([generatedText], { useInnerText: false });

    await test.step('the request at hand as code', async () => {
      await page.getByRole('button', { name: 'Use it from code' }).click();
      const dialog = page.getByRole('dialog', { name: 'Use it from code' });
      await expect(dialog.locator('pre')).toHaveText(
        /^curl http:.*\/v1\/completions .*-d '\{"model":"storyteller","prompt":"Once upon a time,","max_tokens":8,"seed":7\}'$/s,
      );
      await dialog.getByRole('radio', { name: 'Python' }).check();
      await expect(dialog.locator('pre')).toContainText('    seed=7,');
      expect(await axeViolations(dialog)).toEqual([]);
      await page.keyboard.press('Escape');
      await expect(dialog).toHaveCount(0);
    });

    await test.step('a term says what it means, by mouse, touch and keyboard', async () => {
      const [term, meaning] = [page.getByRole('button', { name: 'TTFT' }), page.getByRole('tooltip')];
      await term.hover();
      await expect(meaning).toHaveText(/^Time to first token/);
      await promptOf(page).focus();
      await expect(meaning, 'where the focus has moved').toBeVisible();
      await page.mouse.move(0, 0);
      await expect(meaning).toBeHidden();
      await term.focus();
      await expect(term).toHaveAccessibleDescription(/^Time to first token/);
      await page.keyboard.press('Escape');
      await expect(meaning).toBeHidden();
      await term.dispatchEvent('click');
      for (const scrolled of [promptOf(page), page.locator('main')]) await scrolled.dispatchEvent('scroll');
      await expect(meaning, 'where something has scrolled').toBeVisible();
      await page.keyboard.press('Escape');
      await expect(meaning).toBeHidden();
    });

    await test.step('the box grows with what is typed, and shrinks with it', async () => {
      const heightOf = (): Promise<number> =>
        page.getByTestId('document').evaluate(({ clientHeight }) => clientHeight);
      const before = await heightOf();
      await promptOf(page).fill('line\n'.repeat(40));
      expect(await heightOf()).toBeGreaterThan(before);
      await promptOf(page).fill('Once upon a time,');
      expect(await heightOf()).toBe(before);
    });

    await promptOf(page).press('Control+Enter');
    await expect(promptOf(page)).toHaveValue(text);
    const undo = page.getByRole('button', { name: 'Undo' });
    await undo.click();
    await expect(promptOf(page)).toHaveValue('Once upon a time,');
    await expect(marksOf(page)).toHaveCount(0);

    await promptOf(page).press('Control+Enter');
    await expect(promptOf(page)).toHaveValue(text);
    await promptOf(page).press('Control+Enter');
    await expect.poll(async () => (await promptOf(page).inputValue()).length).toBeGreaterThan(text.length);
    await expect(marksOf(page), 'two continuations that follow each other').toHaveCount(1);
    await expect(undo).toBeEnabled();
  });

  test('gives answers of a shape by keyboard, shows them, and shows a refusal at the field', async ({
    tab,
  }) => {
    const { page } = tab;
    const shown = page.getByTestId('shaped-answer');
    const anyText = page.getByRole('radio', { name: 'Any text' });
    await promptOf(page).fill('Once upon a time, there was a little');

    await test.step('one of several texts, with how likely each is', async () => {
      await tabTo(page, anyText);
      await page.keyboard.press('ArrowRight');
      await tabTo(page, optionOf(page, 'Choices'));
      await page.keyboard.type(' girl\n dragon');
      await promptOf(page).press('Enter');
      await expect(shown.getByRole('row')).toHaveText([/Choice/, /girl the answer.*%/s, /dragon.*%/s]);
      await expect(page.getByRole('region', { name: 'Logprobs' })).toHaveCount(0);
      await page.getByRole('button', { name: 'Undo' }).click();
    });

    await test.step('JSON of a schema, as a tree', async () => {
      await page.getByRole('radio', { name: 'Schema' }).check();
      const schema = {
        type: 'object',
        properties: { pets: { type: 'array', items: { enum: ['cat', 'dog'] }, minItems: 2, maxItems: 2 } },
        required: ['pets'],
      };
      await optionOf(page, 'Max new tokens').fill('32');
      await optionOf(page, 'JSON Schema').fill(JSON.stringify(schema));
      await promptOf(page).press('Enter');
      await expect(shown.getByRole('listitem')).toHaveCount(4);
      await expect(shown).toContainText(/pets: 2 items.*1: "(?:cat|dog)"/s);
      expect(await axeViolations(page.locator('.compose'))).toEqual([]);
      await page.getByRole('button', { name: 'Undo' }).click();
    });

    await test.step('a keyword that no grammar enforces', async () => {
      await optionOf(page, 'JSON Schema').fill('{"type": "array", "contains": {}}');
      await promptOf(page).press('Enter');
      await expect(page.locator('.shape-field .error-line')).toContainText('contains');
      await expect(optionOf(page, 'JSON Schema')).toHaveAttribute('aria-invalid', 'true');
    });
  });

  test('takes what is typed into a continuation as written', async ({ tab }) => {
    const { page } = tab;
    await promptOf(page).fill('Once upon a time,');
    await promptOf(page).press('Enter');
    await expect(marksOf(page)).toHaveCount(1);
    await expect(promptOf(page)).toBeEditable();
    await promptOf(page).press('Control+End');
    await promptOf(page).pressSequentially(' THE END');
    await expect(marksOf(page)).toHaveCount(1);
    await expect(marksOf(page)).not.toContainText('THE END');
    await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0);
  });

  test('is cancelled by Escape, and keeps the prompt', async ({ tab }) => {
    const { page } = tab;
    await tab.configure({ batchWaitTimeoutMs: HELD_MS });
    await promptOf(page).fill('In a galaxy far far away');
    await promptOf(page).press('Control+Enter');
    await expect(page.locator('[data-status=waiting]')).toHaveCount(1);
    await promptOf(page).press('Escape');
    await expect(page.locator('[data-status=cancelled]')).toHaveCount(1);
    await expect(page.getByRole('button', { name: /^Trace request/ }), 'it was in no batch').toBeDisabled();
    await expect(promptOf(page)).toHaveValue('In a galaxy far far away');
    await expect(promptOf(page)).toBeEditable();
  });

  test('shows each of several continuations in turn', async ({ tab }) => {
    const { page } = tab;
    await optionOf(page, 'Continuations').fill('3');
    await promptOf(page).fill('My name is Clara and I am');
    await promptOf(page).press('Enter');
    const third = page.getByRole('button', { name: '3', exact: true });
    await expect(third).toBeVisible();
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const first = await promptOf(page).inputValue();
    await third.click();
    await expect(third).toHaveAttribute('aria-pressed', 'true');
    const texts = await page.getByTestId('request-text').allTextContents();
    expect(texts[0]).toBe(first);
    await expect(promptOf(page)).toHaveValue(texts[2] ?? '');
  });

  test('shows how likely each token was, and what else could have stood there', async ({ tab }) => {
    const { page } = tab;
    await optionOf(page, 'Logprobs').fill('3');
    await promptOf(page).fill('Once upon a time,');
    await promptOf(page).press('Enter');
    const table = page.getByRole('region', { name: 'Logprobs' });
    const rows = table.locator('tbody tr');
    await expect(rows).toHaveCount(8);
    await expect(rows.first().getByRole('rowheader')).toContainText('"');
    const tokens = await table.getByRole('rowheader').allTextContents();
    const generated = await marksOf(page).textContent();
    expect(tokens.map((token) => JSON.parse(token)).join('')).toBe(generated);
    // The likeliest was chosen.
    await expect(rows.first().locator('.logprobs-other')).toHaveCount(2);
    expect(await axeViolations(table)).toEqual([]);
    await tabTo(page, table);
  });

  test('refuses a bad option at its field, and sends nothing', async ({ tab }) => {
    const { page } = tab;
    await optionOf(page, 'Logit bias').fill('eleven: 3');
    await promptOf(page).press('Enter');
    await expect(optionOf(page, 'Logit bias')).toHaveAttribute('aria-invalid', 'true');
    await expect(page.getByRole('alert').filter({ hasText: 'INVALID_OPTION' })).toBeVisible();
    await expect(page.locator('[data-request-id]')).toHaveCount(0);
  });

  test('exports the document with all that made it', async ({ tab }) => {
    const { page } = tab;
    await promptOf(page).fill('Today I accidentally');
    await promptOf(page).press('Enter');
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'More', exact: true }).click();
    await page.getByRole('button', { name: 'Export JSON' }).click();
    expect(await readJson(await downloading)).toMatchObject({
      text: await promptOf(page).inputValue(),
      segments: [{ text: 'Today I accidentally', isGenerated: false }, { isGenerated: true }],
      options: { maxNewTokens: 8, seed: 7 },
      model: 'storyteller',
      continuation: { finishReason: 'length', seed: 7, numOutputTokens: 8 },
    });
  });
});

test.describe('what outlasts the page', { tag: ANY_BACKEND }, () => {
  test('the history, and the theme that was chosen, which stands over the system’s', async ({ site }) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await page.emulateMedia({ colorScheme: 'light' });
    const menu = page.getByRole('button', { name: 'Menu' });
    await menu.click();
    await page.getByRole('radio', { name: 'Dark' }).check();
    await page.keyboard.press('Escape');
    const scheme = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await scheme();
    await openAdvanced(page);
    await optionOf(page, 'Max new tokens').fill('5');
    await promptOf(page).fill('My greatest wish is to');
    await promptOf(page).press('Enter');
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
    const text = await promptOf(page).inputValue();
    await expect.poll(() => page.evaluate(async () => (await indexedDB.databases()).length)).toBe(1);

    await site.reload(tab);
    expect(await scheme(), 'from the first picture on').toBe(dark);
    await menu.click();
    await expect(page.getByRole('radio', { name: 'Dark' })).toBeChecked();
    await page.getByRole('radio', { name: 'System' }).check();
    expect(await scheme()).not.toBe(dark);
    await page.keyboard.press('Escape');

    await test.step('the history brings prompt and options back', async () => {
      await openAdvanced(page);
      await page.getByRole('button', { name: 'More', exact: true }).click();
      await page.getByRole('button', { name: 'History' }).click();
      const entry = page.getByRole('list', { name: 'History' }).getByRole('listitem');
      await expect(entry).toHaveCount(1);
      await expect(entry).toContainText(text);
      const search = page.getByRole('searchbox', { name: 'Search' });
      await search.fill('no such words');
      await expect(entry).toHaveCount(0);
      await search.fill('GREATEST wish');
      await entry.getByRole('button', { name: 'Use prompt and options' }).click();
      await expect(promptOf(page)).toHaveValue('My greatest wish is to');
      await expect(optionOf(page, 'Max new tokens')).toHaveValue('5');

      await page.getByRole('button', { name: 'History' }).click();
      await page.getByRole('button', { name: 'Clear history' }).click();
      await expect(page.getByText('No texts yet')).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(page.getByRole('dialog')).toHaveCount(0);
    });
  });

  test('a link that is pasted into the address of another profile’s open page brings back what it says', async ({
    tab,
    ownTab,
    backend,
  }) => {
    const { page } = tab;
    const before = page.url();
    await promptOf(page).fill('A dragon & 100 % “of” gold,\n');
    await openAdvanced(page);
    await optionOf(page, 'Temperature').fill('0.7');
    await optionOf(page, 'Stop').fill('The end');
    await optionOf(page, 'Logprobs').fill('4');
    await page.getByRole('button', { name: 'Load lab' }).click();
    await page.getByRole('radio', { name: 'Sweep' }).check();
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('ramp');
    await page.getByRole('textbox', { name: 'To', exact: true }).fill('33');
    await page.locator('.lab').getByRole('textbox', { name: 'Seed' }).fill('42');
    await page.locator('.lab').getByRole('button', { name: 'Export' }).click();
    await page.getByRole('button', { name: 'Copy link to scenario' }).click();
    await expect.poll(() => page.url()).toContain('load=');
    const link = new URL(page.url());
    expect(link.searchParams.get('backend')).toBe(backend);
    await page.evaluate((url) => history.replaceState(null, '', url), before);
    await page.locator('.lab').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Reset all' }).click();

    const { page: other } = ownTab;
    await ownTab.open(`?backend=${backend}`);
    const address = other.url();
    await other.evaluate(() => Object.assign(window, { isSamePage: true }));
    await other.goto(`${address}#prompt=A+pasted+tale&seed=7`);
    await expect(promptOf(other)).toHaveValue('A pasted tale');
    await expect(promptOf(other), 'Enter sends it').toBeFocused();
    await expect(other.locator('.run-text'), 'in place of the recording').toHaveText(
      /^Nine texts will stream/,
    );
    await openAdvanced(other);
    await expect(optionOf(other, 'Seed').first()).toHaveValue('7');
    expect(await other.evaluate(() => 'isSamePage' in window), 'nothing was loaded for it').toBe(true);
    await expect(other.getByText('The link')).toHaveCount(0);

    await other.goto(`${address}#prompt=A+newer+tale&model=owner%2Fname&topN=3&responseFormat=rhyme&stop=%`);
    await expect(other.getByText('The link’s stop may not be what was sent')).toBeVisible();
    await expect(other.getByText('The link also sets topN, which')).toBeVisible();
    await expect(other.getByText('The link’s Answer can’t be used here: Expected')).toBeVisible();
    await expect(other.getByRole('button', { name: 'Load owner/name' })).toBeVisible();
    await expectNoViolations(other.locator('.compose'), 'a link of another page');

    await other.goto(`${address}${link.hash}`);
    await expect(promptOf(other)).toHaveValue('A dragon & 100 % “of” gold,\n');
    await openAdvanced(other);
    await expect(optionOf(other, 'Temperature')).toHaveValue('0.7');
    await expect(optionOf(other, 'Stop')).toHaveValue('The end');
    await expect(optionOf(other, 'Logprobs')).toHaveValue('4');
    await expect(other.getByRole('radio', { name: 'Sweep' })).toBeChecked();
    await expect(other.getByRole('combobox', { name: 'Kind' })).toHaveValue('ramp');
    await expect(other.getByRole('textbox', { name: 'To', exact: true })).toHaveValue('33');
    await expect(other.locator('.lab').getByRole('textbox', { name: 'Seed' })).toHaveValue('42');
    expect(ownTab.errors).toEqual([]);
  });
});

import { expectNoViolations } from './support/axe.ts';
import { openAdvanced } from './support/tab.ts';
import { ANY_BACKEND, expect, test } from './support/test.ts';

test(
  'two precisions of a model answer the same prompts side by side, and the one from before serves again, also if the tab closes',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const pair = await site.openPair();
    const [other, tab] = (await pair[0].status()).role === 'leader' ? pair : [pair[1], pair[0]];
    const { page } = tab;
    const { backend: before } = await tab.status();
    const precisions: (string | undefined)[] = [];
    const seenBy = async () => precisions.push((await other.status()).backend?.precision);
    await openAdvanced(page);
    await page.getByRole('textbox', { name: 'Max new tokens' }).fill('16');
    await page.getByRole('button', { name: 'Run 9 prompts at once' }).click();
    await page.getByRole('button', { name: 'Two models' }).click();
    const panel = page.getByRole('region', { name: 'The same prompts with two models' });
    await expect(panel.getByText(/It takes .* MB of memory/)).toHaveCount(2);
    await expect(panel).toContainText('Meanwhile the requests of all tabs go to the model that is loaded');
    await panel.getByRole('button', { name: 'Run both' }).press('Enter');
    await expect(panel, 'the focus of the button, which is disabled').toBeFocused();
    // A run of another tab ends neither the comparison nor what it found.
    await other.generate('Once upon a time,', { maxNewTokens: 3 });
    await expect(panel.getByRole('status')).toContainText(/^\d of 9 texts (is|are) the same\. storyteller, /);
    await expect(panel.getByRole('status')).toContainText(`storyteller, ${before?.precision} is in use.`);
    await expect(page.getByRole('button', { name: 'Two models' })).toBeVisible();
    await seenBy();
    const rightOnes = panel.getByRole('figure').filter({ hasText: 'storyteller, q8' });
    await expect(rightOnes).toContainText(/Tokens\/s[\d.,]+.*Memory[\d.]+ MB/);
    const pairs = panel.getByRole('list', { name: 'Texts of both' }).getByRole('listitem');
    await expect(pairs).toHaveCount(9);
    await expect(pairs.filter({ hasText: /the same in both|differs/ })).toHaveCount(9);
    await expectNoViolations(panel, 'two models');

    // As the comparison does, in a tab that goes before it has restored. The worker stays.
    await page.evaluate(() => window.tabserve.loadModel('storyteller', { dtype: 'q8', isTemporary: true }));
    await seenBy();
    await site.close(tab);
    await expect.poll(async () => (await other.ready()).backend?.precision).toBe(before?.precision);
    expect(precisions).toEqual([before?.precision, 'q8']);
  },
);

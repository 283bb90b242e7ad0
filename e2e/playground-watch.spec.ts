import { readFile } from 'node:fs/promises';

import { traceMainThread } from './support/main-thread.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

/** What a browser calls a long task. */
const LONG_TASK_MS = 50;

const PROMPTS = ['Once upon a time,', 'My name is Mary, and my favorite', 'In a galaxy far far away'];

async function generateThree(tab: Tab): Promise<void> {
  await tab.generateAll(PROMPTS.map((prompt) => ({ prompt, options: { maxNewTokens: 12, seed: 7 } })));
}

test.describe('the page', { tag: ANY_BACKEND }, () => {
  test('traces a request: every batch that it was in, and no other', async ({ tab }) => {
    const { page } = tab;
    // A prompt that an earlier test has left in the cache would join without a prefill.
    await tab.configure({ prefixCaching: false });
    await generateThree(tab);
    await tab.whenIdle();
    const row = page.locator('[data-request-id]').last();
    await row.getByRole('button', { name: /^Trace/ }).click();
    const dialog = page.getByRole('dialog');
    // One prompt chunk and, as the chunk has brought the first token already, 11 decode steps.
    await expect(dialog.locator('tr[data-kind=prefill]')).toHaveCount(1);
    await expect(dialog.locator('tr[data-kind=decode]')).toHaveCount(11);
    const shown = await dialog.locator('tbody th').allTextContents();
    const steps = [...(await tab.steps('prefill')), ...(await tab.steps('decode'))];
    for (const stepIndex of shown) expect(steps.map((step) => step.stepIndex)).toContain(Number(stepIndex));
    await expect(dialog.getByText('ended: length')).toBeVisible();

    const title = await dialog.getByRole('heading').textContent();
    await dialog.getByRole('button', { name: 'Next request' }).click();
    await expect(dialog.getByRole('heading')).not.toHaveText(title ?? '');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });

  test('opens the trace of the bar that is clicked', async ({ tab }) => {
    const { page } = tab;
    await tab.configure({ maxBatchSize: 1 });
    const { tokenIds } = await tab.generate('Once upon a time,', { maxNewTokens: 200, seed: 7 });
    await tab.whenIdle();
    await page.getByRole('combobox', { name: 'Window' }).first().selectOption('2000');
    const canvas = page.getByTestId('slot-timeline');
    const box = await canvas.boundingBox();
    if (!box) throw new Error('The timeline has no place.');
    // Time stands still at the end of the last bar: there it reaches the right edge.
    await canvas.click({ position: { x: box.width - 4, y: 30 } });
    await expect(page.getByRole('dialog')).toContainText(`${tokenIds.length} tokens`);
    await page.keyboard.press('Escape');
    await page.getByRole('combobox', { name: 'Window' }).first().selectOption('10000');
  });

  test('saves the values of a chart as CSV, and its picture', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Batch size per step as CSV' }).click();
    const csv = await readFile(await (await saving).path(), 'utf8');
    const [header, ...rows] = csv.trimEnd().split('\n');
    expect(header).toBe(
      '"step","decode batch size [sequences]","prefill batch size [sequences]","waiting [requests]"',
    );
    expect(rows.at(-1)).toMatch(/^\d+,\d*,\d*,\d+$/);

    const drawing = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Time to first token as PNG' }).click();
    const png = await readFile(await (await drawing).path());
    expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
  });

  test('shows the same moment in all charts, and stands still while it is paused', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab);
    const [ttft, itl] = [page.getByTestId('ttft-chart'), page.getByTestId('itl-chart')];
    await ttft.scrollIntoViewIfNeeded();
    await ttft.locator('.u-over').hover();
    await expect(itl.locator('.u-cursor-x')).not.toHaveClass(/u-off/);
    const time = ttft.locator('.u-value').first();
    await expect(itl.locator('.u-value').first()).toHaveText((await time.textContent()) ?? '');
    await page.mouse.move(0, 0);

    const pause = page.getByRole('button', { name: 'Pause' });
    await pause.click();
    const step = page.getByTestId('batch-size-chart').locator('.u-value').first();
    const before = await step.textContent();
    await generateThree(tab);
    await tab.whenIdle();
    await expect(step).toHaveText(before ?? '');
    // Neither another window nor a look at another view brings what came meanwhile.
    const window = page.locator('.charts-panel').getByRole('combobox', { name: 'Window' });
    await window.selectOption('15');
    await expect(step).toHaveText(before ?? '');
    await page.getByRole('tab', { name: 'Load test' }).click();
    await page.getByRole('tab', { name: 'Watch' }).click();
    await expect(step).toHaveText(before ?? '');
    await window.selectOption('60');
    await pause.click();
    await expect(step).not.toHaveText(before ?? '');
  });

  test('shows a moment that was chosen so long before the newest values, however new they are', async ({
    tab,
  }) => {
    const { page } = tab;
    await generateThree(tab);
    const panel = page.locator('.charts-panel');
    const [window, moment] = [panel.getByRole('combobox', { name: 'Window' }), panel.getByRole('slider')];
    await window.selectOption('300');
    await moment.focus();
    await page.keyboard.press('ArrowLeft');
    const ttft = page.getByTestId('ttft-chart');
    await ttft.scrollIntoViewIfNeeded();
    await expect(ttft.locator('.u-cursor-x')).not.toHaveClass(/u-off/);
    const time = ttft.locator('.u-value').first();
    const before = await time.textContent();
    // A moment that stood still would take the whole window to leave it.
    await expect
      .poll(async () => {
        await generateThree(tab);
        return time.textContent();
      })
      .not.toBe(before);
    await expect(moment).toHaveAttribute('aria-valuetext', '1 s before the newest values');
    await page.keyboard.press('End');
    await window.selectOption('60');
  });

  test('says which panel failed, and leaves the others at work', async ({ ownTab, backend }) => {
    const { page } = ownTab;
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await ownTab.open(`?backend=${backend}`);
    await expect(page.getByRole('heading', { name: 'K/V slots cannot be shown' })).toBeVisible();
    await ownTab.ready();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
  });

  test('stays smooth while 16 requests stream: no commit without a frame', async ({
    site,
    backend,
    browser,
  }, info) => {
    const [tab] = await site.openReady(1);
    if (!tab) throw new Error('No tab');
    const { page } = tab;
    await page.addInitScript(countCommits);
    // All charts in view: those out of sight cost nothing.
    await page.setViewportSize({ width: 1280, height: 2400 });
    await site.reload(tab);
    await tab.ready();
    await tab.configure({ maxBatchSize: 16 });
    const seconds = IS_WHOLE ? 30 : 4;
    const { result: figures, tasks } = await traceMainThread(browser, page, () =>
      page.evaluate(streamForSeconds, seconds),
    );
    const numLong = tasks.filter(({ wallMs }) => wallMs > LONG_TASK_MS).length;
    const longestMs = Math.max(...tasks.map(({ cpuMs }) => cpuMs));
    const said = `${backend}, ${seconds} s of 16 streams: ${figures.numSteps} steps, ${figures.numFrames} frames, ${figures.numCommits} commits, at most ${figures.maxCommitsPerFrame} in a frame; the page's thread computes for at most ${longestMs.toFixed(1)} ms in a task; ${numLong} tasks last longer than ${LONG_TASK_MS} ms with what others take of the cores`;
    info.annotations.push({ type: 'figures', description: said });
    console.log(said);
    expect(figures.maxBatchSize).toBe(16);
    expect(figures.numCommits).toBeGreaterThan(10);
    expect(figures.numCommits, 'commits').toBeLessThanOrEqual(figures.numFrames);
    // On a machine without a GPU the browser draws the page on the cores that the page's thread needs: what it computes itself
    // is judged, and in the whole suite alone, which has the machine for itself.
    if (IS_WHOLE) expect(longestMs, 'ms that a task computes').toBeLessThan(LONG_TASK_MS);
  });
});

interface CommitCounter {
  numCommits: number;
}

declare global {
  interface Window {
    commits: CommitCounter;
  }
}

/** Runs in the page before its scripts: React tells its developer tools of each commit. */
function countCommits(): void {
  const commits = { numCommits: 0 };
  const hook = {
    supportsFiber: true,
    renderers: new Map(),
    inject: () => 1,
    onCommitFiberRoot: () => {
      commits.numCommits += 1;
    },
    onCommitFiberUnmount: () => {},
    onPostCommitFiberRoot: () => {},
  };
  Object.assign(window, { __REACT_DEVTOOLS_GLOBAL_HOOK__: hook, commits });
}

/** Runs in the page: keeps 16 requests running for so long, and says what it cost the page's own thread. */
async function streamForSeconds(seconds: number) {
  const generator = window.tabserve.getHandle('text-generator');
  const endMs = performance.now() + seconds * 1000;
  let [numSteps, maxBatchSize, numFrames, maxCommitsPerFrame] = [0, 0, 0, 0];
  const unsubscribe = window.tabserve.subscribe('stats', ({ steps }) => {
    numSteps += steps.length;
    for (const { batchSize } of steps) maxBatchSize = Math.max(maxBatchSize, batchSize);
  });
  const commitsBefore = window.commits.numCommits;
  let commitsAtFrame = commitsBefore;
  let isOver = false;
  const frame = (): void => {
    numFrames += 1;
    maxCommitsPerFrame = Math.max(maxCommitsPerFrame, window.commits.numCommits - commitsAtFrame);
    commitsAtFrame = window.commits.numCommits;
    if (!isOver) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);

  const use = async (user: number): Promise<void> => {
    for (let turn = 0; performance.now() < endMs; turn += 1)
      await generator.remote('Once upon a time,', { maxNewTokens: 120, seed: user * 1000 + turn }).result();
  };
  await Promise.all(Array.from({ length: 16 }, (_, user) => use(user)));
  isOver = true;
  unsubscribe();
  const numCommits = window.commits.numCommits - commitsBefore;
  return { numSteps, maxBatchSize, numFrames, numCommits, maxCommitsPerFrame };
}

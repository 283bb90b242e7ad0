import { readFile } from 'node:fs/promises';

import type { Locator, Page } from 'playwright/test';

import { traceMainThread } from './support/main-thread.ts';
import { ANY_BACKEND, expect, IS_WHOLE, test } from './support/test.ts';
import type { Tab } from './support/tab.ts';

/** Browsers report a task that takes longer as a long task. */
const LONG_TASK_MS = 50;

const PROMPTS = ['Once upon a time,', 'My name is Mary, and my favorite', 'In a galaxy far far away'];

async function generateThree(tab: Tab, maxNewTokens = 12): Promise<void> {
  const options = { maxNewTokens, seed: 7, ignoreEos: true };
  await tab.generateAll(PROMPTS.map((prompt) => ({ prompt, options })));
}

/** The picture of the slot timeline; it stays the same while time stands still. */
function pictureOf(page: Page): Promise<string> {
  return page
    .getByTestId('slot-timeline')
    .locator('canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
}

/** The picture once it stays the same for longer than the slowest pace at which canvases are drawn. What is under the pointer stands out in it. */
async function finalPictureOf(page: Page): Promise<string> {
  await page.mouse.move(0, 0);
  let picture = '';
  const isSame = async (): Promise<boolean> => {
    const before = picture;
    picture = await pictureOf(page);
    return picture === before;
  };
  await expect.poll(isSame, { intervals: [1000] }).toBe(true);
  return picture;
}

/** Searches for a request's bar: its position depends on the speed of its run and of the runs before. */
async function placeOfBar(
  timeline: Locator,
  readout: Locator,
  text: string,
): Promise<{ readonly x: number; readonly y: number }> {
  const box = await timeline.boundingBox();
  for (let twentieth = 19; twentieth > 0; twentieth -= 1) {
    const place = { x: ((box?.width ?? 0) * twentieth) / 20, y: 20 };
    await timeline.hover({ position: place });
    if ((await readout.textContent())?.includes(text)) return place;
  }
  throw new Error(`No bar of ${text} is under the pointer`);
}

/** Moves the pointer to a place of the slots: the lines of all three are at its x. */
async function expectSameX(page: Page, share: number): Promise<void> {
  const { x = 0, y = 0, width = 0 } = (await page.getByTestId('slot-timeline').boundingBox()) ?? {};
  const pointerX = x + width * share;
  await page.mouse.move(pointerX, y + 5);
  const lines = [
    page.getByTestId('batch-size-chart').locator('.u-cursor-x'),
    page.getByTestId('latency-chart').locator('.u-cursor-x'),
    page.locator('.slots-cursor'),
  ];
  await expect
    .poll(async () => {
      const boxes = await Promise.all(lines.map((line) => line.boundingBox()));
      return Math.max(...boxes.map((box) => Math.abs((box?.x ?? Infinity) - pointerX)));
    })
    .toBeLessThanOrEqual(1);
}

test.describe('the page', { tag: ANY_BACKEND }, () => {
  test('traces a request: every batch that it was in, and no other', async ({ tab }) => {
    const { page } = tab;
    // A prompt that an earlier test has left in the cache would join without a prefill, and beside running texts it would be cut.
    await tab.configure({ prefixCaching: false, promptLookup: false, prefillStallMs: Infinity });
    await generateThree(tab);
    await tab.whenIdle();
    const row = page.locator('[data-request-id]').last();
    await row.getByRole('button', { name: /^Trace/ }).click();
    const dialog = page.getByRole('dialog');
    // One prompt chunk, which yields the first token, and 11 decode steps.
    await expect(dialog.locator('tr[data-kind=prefill]')).toHaveCount(1);
    await expect(dialog.locator('tr[data-kind=decode]')).toHaveCount(11);
    const shown = await dialog.locator('tbody th').allTextContents();
    const steps = [...(await tab.steps('prefill')), ...(await tab.steps('decode'))];
    for (const stepIndex of shown) expect(steps.map((step) => step.stepIndex)).toContain(Number(stepIndex));
    await expect(dialog.getByText('reached its limit')).toBeVisible();

    const title = await dialog.getByRole('heading').textContent();
    await dialog.getByRole('button', { name: 'Previous request' }).click();
    await expect(dialog.getByRole('heading')).not.toHaveText(title ?? '');
    await page.keyboard.press('Escape');
    await expect(dialog).toHaveCount(0);
  });

  test('describes the bar under the pointer, marks its request, and opens its trace at a click', async ({
    tab,
  }) => {
    const { page } = tab;
    await tab.configure({ maxBatchSize: 1 });
    const { tokenIds } = await tab.generate('Once upon a time,', {
      maxNewTokens: 200,
      seed: 7,
      ignoreEos: true,
    });
    await tab.whenIdle();
    const before = await finalPictureOf(page);
    const timeline = page.getByTestId('slot-timeline');
    const readout = page.locator('.slots-readout');
    const place = await placeOfBar(timeline, readout, `${tokenIds.length} tokens`);
    await expect(readout).toHaveText(/^#\d+ in slot 0 · .* tokens · /);
    await expect.poll(() => pictureOf(page), 'it has an outline').not.toBe(before);
    await timeline.click({ position: place });
    await expect(page.getByRole('dialog')).toContainText(`${tokenIds.length} tokens`);
    await page.keyboard.press('Escape');
    await page.mouse.move(0, 0);
    await expect(readout).toBeHidden();
    // Compared here: the difference of two pictures that are still unlike would be told for seconds.
    await expect.poll(async () => (await pictureOf(page)) === before).toBe(true);
  });

  test('saves the values of a chart as CSV, and its picture', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab);
    await tab.whenIdle();
    const figure = page.getByRole('figure', { name: 'Batch size', exact: true });
    // The worker reports its steps at intervals, after the texts have ended.
    await expect(figure.locator('.readout-value').first()).toHaveText(/\d/);
    await page.getByRole('button', { name: 'Export Batch size' }).click();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Batch size as CSV' }).click();
    const csv = await readFile(await (await saving).path(), 'utf8');
    const [header, ...rows] = csv.trimEnd().split('\n');
    expect(header).toBe(
      '"end of the step [s since the run\'s start]","decode batch size [sequences]","prefill batch size [sequences]","waiting [requests]","start of the step [s since the run\'s start]"',
    );
    expect(rows.at(-1)).toMatch(/^[\d.]+,\d*,\d*,\d+,[\d.]+$/);

    await page.getByRole('button', { name: 'Export Latency' }).click();
    const drawing = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Latency as PNG' }).click();
    const png = await readFile(await (await drawing).path());
    expect(png.subarray(1, 4).toString('latin1')).toBe('PNG');
    await page.keyboard.press('Escape');
  });

  test('shows the same moment in all charts and the slots', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab);
    await tab.whenIdle();
    const [batches, latency] = [page.getByTestId('batch-size-chart'), page.getByTestId('latency-chart')];
    const inSlots = page.locator('.slots-cursor');
    await expect(inSlots).toBeHidden();
    await batches.locator('.u-over').hover();
    await expect(latency.locator('.u-cursor-x')).not.toHaveClass(/u-off/);
    await expect(inSlots).toBeVisible();
    const time = batches.locator('.crosshair-time');
    await expect
      .poll(
        async () => (await latency.locator('.crosshair-time').textContent()) === (await time.textContent()),
      )
      .toBe(true);

    await test.step('at the same x, at any width', async () => {
      const viewport = page.viewportSize();
      for (const width of [1280, 820, 360]) {
        await page.setViewportSize({ width, height: 900 });
        await page.getByTestId('slot-timeline').scrollIntoViewIfNeeded();
        for (const share of [0.3, 0.7]) await expectSameX(page, share);
      }
      if (viewport) await page.setViewportSize(viewport);
      await page.evaluate(() => scrollTo(0, 0));
    });
    await page.mouse.move(0, 0);
    await expect(inSlots).toBeHidden();

    await test.step('a drag zooms, and so do keys; a double click, Escape and a button show all', async () => {
      const slots = page.getByTestId('slot-timeline');
      const all = page.getByRole('button', { name: 'Show all', exact: true });
      const before = await finalPictureOf(page);
      const { x = 0, y = 0, width = 0 } = (await slots.boundingBox()) ?? {};
      const drag = async (): Promise<void> => {
        await page.mouse.move(x + width * 0.3, y + 5);
        await page.mouse.down();
        await page.mouse.move(x + width * 0.6, y + 5, { steps: 3 });
        await page.mouse.up();
        await expect(all).toBeVisible();
      };
      await drag();
      await expect.poll(() => pictureOf(page)).not.toBe(before);
      await expect(page.getByRole('dialog'), 'a drag is no click').toHaveCount(0);
      await expectSameX(page, 0.5);
      await slots.dblclick({ position: { x: width * 0.5, y: 5 } });
      await expect(all).toHaveCount(0);
      await drag();
      await all.click();
      await expect(all).toHaveCount(0);
      await slots.focus();
      await page.keyboard.press('+');
      await page.keyboard.press('Shift+ArrowLeft');
      await expect(all).toBeVisible();
      await page.keyboard.press('Escape');
      await expect(all).toHaveCount(0);
      await page.mouse.move(0, 0);
      await expect.poll(() => pictureOf(page)).toBe(before);
    });

    await test.step('more lanes than the field has room for scroll', async () => {
      const field = page.getByTestId('slot-timeline');
      const scrolls = (): Promise<boolean> =>
        field.evaluate(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight);
      expect(await scrolls()).toBe(false);
      await tab.configure({ maxBatchSize: 64 });
      await expect.poll(scrolls).toBe(true);
      await tab.configure({ maxBatchSize: 16 });
      await expect.poll(scrolls, 'sixteen lanes have room').toBe(false);
    });

    await tab.openMoreCharts();
    await page.getByTestId('ttft-chart').locator('.u-over').hover();
    await expect(inSlots).toBeVisible();
    await page.mouse.move(0, 0);
  });

  test('stands still while it is paused, whatever runs meanwhile', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab);
    await tab.whenIdle();
    const slots = page.getByRole('region', { name: 'K/V slots' });
    const pause = slots.getByRole('button', { name: 'Pause' });
    const window = slots.getByRole('combobox', { name: 'Window' });
    const before = await finalPictureOf(page);
    await pause.click();
    await expect(pause).toHaveAttribute('aria-pressed', 'true');
    await generateThree(tab, 100);
    await tab.whenIdle();
    // Changing the time window or the view doesn't show newer data while paused.
    const more = slots.getByRole('button', { name: 'More slot controls' });
    await more.click();
    await window.selectOption('1 min');
    await page.getByRole('tab', { name: 'Deployments' }).click();
    await page.getByRole('tab', { name: 'Text' }).click();
    await expect.poll(() => pictureOf(page)).toBe(before);
    await more.click();
    await window.selectOption('10 s');
    await pause.click();
    await expect.poll(() => pictureOf(page)).not.toBe(before);
  });

  test('shows a moment that the keyboard chooses, so long before the newest values', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab, 200);
    await tab.whenIdle();
    const slots = page.getByRole('region', { name: 'K/V slots' });
    await slots.getByRole('button', { name: 'More slot controls' }).click();
    const moment = slots.getByRole('slider', { name: 'Moment' });
    await moment.focus();
    await page.keyboard.press('ArrowLeft');
    await expect(moment).toHaveAttribute('aria-valuetext', '0.1 s before the newest values');
    const time = page.getByTestId('latency-chart').locator('.crosshair-time');
    await expect(page.locator('.slots-cursor')).toBeVisible();
    const before = await time.textContent();
    // A moment that stood still would stay where it was on the axis of a longer run.
    await generateThree(tab, 250);
    await expect(time).not.toHaveText(before ?? '');
    await expect(moment).toHaveAttribute('aria-valuetext', '0.1 s before the newest values');
    await page.keyboard.press('End');
    await expect(page.locator('.slots-cursor')).toBeHidden();
    await page.keyboard.press('Escape');
  });

  test('replays the last run, slowly and step by step', async ({ tab }) => {
    const { page } = tab;
    await generateThree(tab, 100);
    await tab.whenIdle();
    const slots = page.getByRole('region', { name: 'K/V slots' });
    const replay = slots.getByRole('button', { name: 'Replay' });
    const position = slots.getByRole('slider', { name: 'Replay position' });
    const after = await finalPictureOf(page);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    await replay.click();
    await expect.poll(() => position.inputValue().then(Number), 'it plays').toBeGreaterThan(2);
    await slots.getByRole('button', { name: 'Pause' }).click();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const at = Number(await position.inputValue());
    await slots.getByRole('button', { name: 'Step', exact: true }).click();
    await expect(position).toHaveValue(String(at + 1));
    await slots.getByRole('button', { name: 'Step back' }).click();
    await expect(position).toHaveValue(String(at));
    await expect.poll(() => pictureOf(page), 'bars are cut').not.toBe(after);

    await position.focus();
    await page.keyboard.press('End');
    const numSteps = (await tab.steps('prefill')).length + (await tab.steps('decode')).length;
    await expect(position).toHaveAttribute('aria-valuetext', /^step (\d+) of \1, \d\.\d\d s$/);
    expect(Number(await position.inputValue())).toBeGreaterThanOrEqual(numSteps);
    await page.keyboard.press('Home');
    await expect(position).toHaveAttribute('aria-valuetext', /^step 0 of \d+, 0\.00 s$/);
    await page.keyboard.press('Escape');
    await expect(replay, 'the focus comes back').toBeFocused();
    await expect.poll(() => pictureOf(page)).toBe(after);

    await replay.click();
    await expect(position).toBeVisible();
    await tab.generate('Once upon a time,', { maxNewTokens: 12 });
    await expect(position, 'a new run closes the replay').toHaveCount(0);
  });

  test('says which panel failed, and leaves the others at work', async ({ ownTab, backend }) => {
    const { page } = ownTab;
    await page.addInitScript(() => {
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await ownTab.open(`?backend=${backend}`);
    await expect(page.getByRole('heading', { name: 'Couldn’t show K/V slots' })).toBeVisible();
    await ownTab.ready();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.locator('[data-status=finished]')).toHaveCount(1);
  });

  test('stays smooth while 16 requests stream: no commit without a frame', async ({
    ownTab: tab,
    backend,
    browser,
  }, info) => {
    const { page } = tab;
    await page.addInitScript(countCommits);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    // All charts in view: those out of sight cost nothing.
    await page.setViewportSize({ width: 1280, height: 2400 });
    await tab.open(`?backend=${backend}`);
    await tab.ready();
    await tab.configure({ maxBatchSize: 16 });
    const seconds = IS_WHOLE ? 30 : 1;
    const { result: figures, tasks } = await traceMainThread(browser, page, () =>
      page.evaluate(streamForSeconds, seconds),
    );
    const numLong = tasks.filter(({ wallMs }) => wallMs > LONG_TASK_MS).length;
    const longestMs = Math.max(...tasks.map(({ cpuMs }) => cpuMs));
    const said = `${backend}, ${seconds} s of 16 streams: ${figures.numSteps} steps, ${figures.numFrames} frames, ${figures.numCommits} commits, at most ${figures.maxCommitsPerFrame} in a frame; the page's thread computes for at most ${longestMs.toFixed(1)} ms in a task; ${numLong} tasks last longer than ${LONG_TASK_MS} ms with what others take of the cores`;
    info.annotations.push({ type: 'figures', description: said });
    console.log(said);
    expect(figures.maxBatchSize).toBe(16);
    expect(figures.numCommits).toBeGreaterThan(2.5 * seconds);
    expect(figures.numCommits, 'commits').toBeLessThanOrEqual(figures.numFrames);
    expect(tab.errors).toEqual([]);
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

/** Runs in the page before its scripts. React reports each commit to its developer tools. */
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

/** Runs in the page: keeps 16 requests running for the given time, and measures the cost for the page's own thread. */
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

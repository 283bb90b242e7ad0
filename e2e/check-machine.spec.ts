import type { CheckName, CheckOutcome, CheckReport } from '../src/client/index.ts';
import type { Locator } from 'playwright/test';
import type { FaultPlan } from './faults/inject-faults.ts';
import { expectNoViolations } from './support/axe.ts';
import { expect, test } from './support/fault-test.ts';
import { pressOn } from './support/keyboard.ts';
import { someOf } from './support/seeded-random.ts';
import type { Tab } from './support/tab.ts';
import { ANY_BACKEND, IS_WHOLE } from './support/test.ts';

type Outcomes = Readonly<Record<CheckName, CheckOutcome>>;

/** Software adapters are passed over, so this one poses as hardware. */
const HARDWARE = { adapter: 'hardware' } as const;

const RIGHT: Outcomes = {
  together: 'right',
  handover: 'right',
  shapes: 'right',
  values: 'right',
  tokens: 'right',
};

function check(tab: Tab): Promise<CheckReport> {
  return tab.page.evaluate(() => window.tabserve.check());
}

function outcomesOf({ lines }: CheckReport): object {
  return Object.fromEntries(lines.map(({ name, outcome }) => [name, outcome]));
}

/** All lines are right, and the figures are there. */
function expectRight(report: CheckReport, backend: string): void {
  expect(outcomesOf(report)).toEqual({ ...RIGHT, ...(backend === 'wasm' && { tokens: 'not-run' }) });
  const [running] = report.backends;
  expect(running).toMatchObject({ name: backend });
  expect(running?.rates.map(({ numTexts }) => numTexts)).toEqual([1, 4, 8, 16]);
  expect(running?.longestPauseMs).toBeGreaterThan(0);
  const cpu = report.backends.find(({ name }) => name === 'wasm');
  expect(cpu?.bytesPerSecond).toBeGreaterThan(1e8);
}

test('all lines are right on WebGPU', async ({ tab, backend }) => {
  test.skip(!IS_WHOLE || backend === 'wasm', 'takes minutes; the menu copies the report of WASM');
  test.setTimeout(1_500_000);
  const report = await check(tab);
  console.log(report.text);
  expectRight(report, backend);
  expect((await tab.status()).override, 'the users’ own policy is in force again').toBeUndefined();
});

test('a check that is stopped keeps the lines that are done', { tag: ANY_BACKEND }, async ({ tab }) => {
  const report = await tab.page.evaluate(() => {
    const stop = new AbortController();
    return window.tabserve.check({
      signal: stop.signal,
      onProgress: ({ lines }) => lines[0]?.outcome === 'right' && stop.abort(),
    });
  });
  expect(outcomesOf(report)).toMatchObject({ together: 'right', handover: 'not-run', values: 'not-run' });
  expect(report.lines.at(-1)?.detail).toBe('Stopped.');
  expect((await tab.status()).override).toBeUndefined();
});

test(
  'the menu of the page runs it, by keyboard alone, beside texts of another tab; closing the box stops it',
  { tag: ANY_BACKEND },
  async ({ site }) => {
    const [{ page }, second] = await site.openPair();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const buttonOf = (name: string): Locator => page.getByRole('button', { name, exact: true });
    const dialog = page.getByRole('dialog', { name: 'Check this machine' });
    const run = dialog.getByRole('button', { name: 'Run', exact: true });

    await pressOn(page, buttonOf('Menu'));
    await pressOn(page, buttonOf('Check this machine'));
    await pressOn(page, run);
    await expect(dialog.getByRole('button', { name: 'Stop' })).toBeVisible();
    await expect(dialog).toContainText('Right: 4 of 4. Not run: 1.');
    await expect(dialog.getByRole('listitem')).toHaveText([
      /^Right.*9 of 9 texts are the same/,
      /^Right.*moved in the middle/,
      /^Right.*8 of 8 answers/,
      /^Right.*CPU: as computed in float64/,
      /^Not run.*adapter/,
    ]);
    await expect(page.getByRole('list', { name: 'Requests' }), 'no cells of the check').toBeHidden();
    await pressOn(page, dialog.getByRole('button', { name: 'Copy report' }));
    await expect(dialog).toContainText('Copied as text.');
    expect(await page.evaluate(() => navigator.clipboard.readText())).toContain('Right: 4 of 4.');
    await pressOn(page, dialog.getByRole('button', { name: 'Copy JSON' }));
    await expect(dialog).toContainText('Copied as JSON.');
    const copied: CheckReport = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    expectRight(copied, 'wasm');
    expect(copied.isOver).toBe(true);
    expect((await second.status()).override, 'the users’ own policy is in force again').toBeUndefined();
    await expectNoViolations(dialog, 'the report');
    for (const width of [390, 320]) {
      await page.setViewportSize({ width, height: 800 });
      const overflow = await dialog.evaluate((box) => box.scrollWidth - box.clientWidth);
      expect(overflow, `what is cut at ${width} px`).toBe(0);
    }
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(buttonOf('Check this machine')).toBeFocused();
    await expect(page.getByText('Last check', { exact: true }), 'what the figures are of').toBeVisible();

    const isOpen = await buttonOf('Check this machine').evaluate(openAgainAtOnce);
    expect(isOpen, 'Enter in the moment in which the box closes').toBe(true);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();

    await test.step('texts of another tab go on beside it, and closing the box stops it', async () => {
      const prompt = 'Once upon a time,';
      const options = { maxNewTokens: 48, seed: 5, temperature: 0.8 };
      const alone = await second.generate(prompt, options);
      await page.keyboard.press('Enter');
      await pressOn(page, run);
      await expect.poll(async () => (await second.status()).override?.isOwn).toBe(false);
      await expect(second.page.evaluate(() => window.tabserve.check())).rejects.toThrow('OverrideHeldError');
      expect((await second.generate(prompt, options)).text).toBe(alone.text);
      await pressOn(page, dialog.getByRole('button', { name: 'Close' }));
      await expect.poll(async () => (await second.status()).override).toBeUndefined();
    });
  },
);

/** Runs in the page: opens the box, closes it, and opens it again before the browser says that it was closed. */
async function openAgainAtOnce(opener: HTMLElement): Promise<boolean> {
  opener.click();
  let close: HTMLButtonElement | null = null;
  while (!close) {
    await new Promise(requestAnimationFrame);
    close = document.querySelector('dialog[open] .panel-head button');
  }
  close.click();
  await Promise.resolve();
  opener.click();
  for (let frames = 0; frames < 5; frames += 1) await new Promise(requestAnimationFrame);
  return document.querySelector('dialog[open]') !== null;
}

const FAULTS: readonly (readonly [plan: FaultPlan, wrong: Partial<Outcomes>])[] = [
  // The texts of the handover are a batch, too.
  [{ wrongWork: 'third-row' }, { together: 'wrong', handover: 'wrong' }],
  [{ wrongWork: 'resumption' }, { handover: 'wrong' }],
  [{ wrongWork: 'mask' }, { shapes: 'wrong' }],
  [{ wrongWork: 'known-values' }, { values: 'wrong' }],
];
/** Compiles all shaders for half a minute. */
const GPU_FAULTS: typeof FAULTS = [[{ ...HARDWARE, wrongWork: 'logits' }, { tokens: 'wrong' }]];

for (const [plan, wrong] of [...someOf(FAULTS, 1), ...(IS_WHOLE ? GPU_FAULTS : [])])
  test(`a fault is found: ${plan.wrongWork}`, { tag: ANY_BACKEND }, async ({ faulty }) => {
    const needsGpu = wrong.tokens !== undefined;
    if (needsGpu) test.setTimeout(1_500_000);
    faulty.planNext = () => plan;
    await faulty.open('?backend=wasm');
    await faulty.tab.ready();
    const report = await check(faulty.tab);
    console.log(report.text);
    const others = needsGpu ? RIGHT : { ...RIGHT, tokens: 'not-run' };
    expect(outcomesOf(report)).toEqual({ ...others, ...wrong });
  });

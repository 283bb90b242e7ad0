import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { keepTab, type HeadlessTab } from './keep-tab.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

/** A browser whose tabs end when the test says so. */
function createBrowser() {
  const tabs: { end: (reason: string) => void; isClosed: boolean }[] = [];
  const open = vi.fn<() => Promise<HeadlessTab>>(() => {
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const tab = { end, isClosed: false };
    tabs.push(tab);
    return Promise.resolve({
      ended,
      close() {
        tab.isClosed = true;
        return Promise.resolve();
      },
    });
  });
  const controller = new AbortController();
  const lines: string[] = [];
  const keep = () => keepTab(open, { signal: controller.signal, print: (line) => lines.push(line) });
  return { open, tabs, lines, keep, stop: () => controller.abort() };
}

it('opens a tab again that has ended, and closes what is left of it', async () => {
  const { tabs, lines, keep, stop } = createBrowser();
  const kept = keep();
  await vi.advanceTimersByTimeAsync(0);
  tabs[0]?.end('the page has crashed.');
  await vi.advanceTimersByTimeAsync(1000);
  expect(tabs.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  expect(lines).toEqual([expect.stringContaining('the page has crashed.')]);
  stop();
  await kept;
  expect(tabs.map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

it('gives up at once when the first browser does not start, and says why in one line', async () => {
  const { open, lines, keep } = createBrowser();
  open.mockRejectedValue(
    new Error('browserType.launch: it has died.\n[pid=1][err] first\n[pid=1][err] no room'),
  );
  await expect(keep()).rejects.toMatchObject({
    code: 'NO_HEADLESS_TAB',
    message: expect.stringMatching(
      /^[^\n]*it has died\. Its last line: no room[^\n]*CHROME_PATH[^\n]*--headless[^\n]*$/,
    ),
  });
  expect([open.mock.calls.length, lines]).toEqual([1, []]);
});

it('gives up when a browser fails again and again, and says why', async () => {
  const { open, tabs, lines, keep } = createBrowser();
  const failure = keep().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(0);
  open.mockRejectedValue(new Error('it does not start.'));
  tabs[0]?.end('the browser has ended.');
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await failure).toMatchObject({
    code: 'NO_HEADLESS_TAB',
    message: expect.stringContaining('it does not start.'),
  });
  expect([open.mock.calls.length, lines.length]).toEqual([6, 5]);
});

it('gives up also where each failure takes its time', async () => {
  const { open, tabs, keep } = createBrowser();
  const failure = keep().catch((error: unknown) => error);
  await vi.advanceTimersByTimeAsync(0);
  open.mockImplementation(async () => {
    await new Promise((resolve) => void setTimeout(resolve, 180_000));
    throw new Error('it hangs.');
  });
  tabs[0]?.end('the browser has ended.');
  await vi.advanceTimersByTimeAsync(6 * 180_000 + 31_000);
  expect(await failure).toMatchObject({ code: 'NO_HEADLESS_TAB' });
});

it('goes on for ever with tabs that last', async () => {
  const { tabs, keep, stop } = createBrowser();
  const kept = keep();
  for (let numEnded = 0; numEnded < 20; numEnded += 1) {
    await vi.advanceTimersByTimeAsync(60_000);
    tabs[numEnded]?.end('the browser has ended.');
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(tabs).toHaveLength(21);
  stop();
  await kept;
});

it('opens none any more when it is told to stop in a pause', async () => {
  const { open, tabs, keep, stop } = createBrowser();
  const kept = keep();
  await vi.advanceTimersByTimeAsync(0);
  tabs[0]?.end('the page has crashed.');
  await vi.advanceTimersByTimeAsync(500);
  stop();
  await kept;
  expect(open).toHaveBeenCalledTimes(1);
});

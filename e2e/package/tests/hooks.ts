import type { Page } from 'playwright/test';

import { reference } from '../../support/reference.ts';
import { expect, statusOf, test, type AppWindow } from '../app-page.ts';
import { serveEsbuildBuild } from '../tools.ts';

const [PROMPT = ''] = reference.prompts.map(({ prompt }) => prompt);

const APP = `
import { StrictMode, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useGeneration, useStats, useTabserve } from 'tabserve/react';

const worker = () => new Worker(new URL('./my-worker.js', import.meta.url), { type: 'module' });

function Story({ label, dtype }) {
  const { serve, status, error } = useTabserve({ name: 'hooks', worker, backend: 'wasm', model: '/models/storyteller/', dtype });
  const { text, result, isRunning, generate, cancel } = useGeneration(serve);
  const stats = useStats(serve);
  window.clients = { ...window.clients, [label]: serve };
  if (serve) window.serve = serve;
  return (
    <section aria-label={label}>
      <button disabled={status?.state !== 'ready'} onClick={() => generate(${JSON.stringify(PROMPT)}, { temperature: 0, maxNewTokens: 24, echo: true })}>Write</button>
      <button onClick={() => generate('Once', { maxNewTokens: 240, ignoreEos: true })}>Write long</button>
      <button onClick={cancel}>Stop</button>
      <p role="status">{error?.message ?? (isRunning ? 'running' : result ? result.finishReason : 'idle')}</p>
      <p data-testid="text">{text}</p>
      <p data-testid="result">{result?.text}</p>
      <p data-testid="running">{stats?.numRunning}</p>
    </section>
  );
}

function App() {
  const [numStories, setNumStories] = useState(2);
  const [dtype, setDtype] = useState('fp32');
  return (
    <main aria-label="app">
      <button onClick={() => setNumStories(numStories - 1)}>Remove one</button>
      <button onClick={() => setDtype('q8')}>Other precision</button>
      {['first', 'second'].slice(0, numStories).map((label) => <Story key={label} label={label} dtype={dtype} />)}
    </main>
  );
}

createRoot(document.querySelector('#root')).render(<StrictMode><App /></StrictMode>);
`;

test('hooks in strict mode share one client, stream, follow their options, tell figures, and cancel with their component', async ({
  place,
  serveApp,
  openTab,
}) => {
  const page = await openTab(await serveApp(serveEsbuildBuild(place, APP)));
  const story = (label: string) => page.getByRole('region', { name: label });
  const press = (label: string, name: string) =>
    story(label).getByRole('button', { name, exact: true }).click();

  await press('first', 'Write');
  await expect(story('first').getByTestId('result')).toContainText(PROMPT.trim());
  expect(await story('first').getByTestId('text').textContent(), 'the stream is the result').toBe(
    await story('first').getByTestId('result').textContent(),
  );
  const isShared = await page.evaluate(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    const { clients } = window as unknown as { clients: Record<string, unknown> };
    return clients['first'] !== undefined && clients['first'] === clients['second'];
  });
  expect(isShared).toBe(true);
  expect(await statusOf(page)).toMatchObject({ role: 'leader', numTabs: 1 });

  await page.getByRole('button', { name: 'Other precision' }).click();
  await expect.poll(async () => (await statusOf(page)).backend?.precision, 'a changed option').toBe('q8');

  // The figures are those of all components. On a loaded machine a text may end before it is stopped: then the next one begins.
  await expect(async () => {
    await clickInPage(page, ['first', 'Write long'], ['second', 'running', '1'], ['first', 'Stop']);
    await expect(story('first').getByRole('status')).toHaveText('idle', { timeout: 2000 });
  }).toPass();

  // The other requests end with the component that has asked.
  await page.evaluate(() => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the test reads it below
    const heard = window as unknown as { ends: string[] };
    heard.ends = [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the app's script has set it
    (window as unknown as AppWindow).serve.subscribe('requests', (updates) => {
      for (const update of updates) if (update.type === 'failed') heard.ends.push(update.error.code);
    });
  });
  await clickInPage(page, ['second', 'Write long'], ['first', 'running', '1'], ['app', 'Remove one']);
  await expect(story('second')).toHaveCount(0);
  await expect
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- set above
    .poll(() => page.evaluate(() => (window as unknown as { ends: string[] }).ends))
    .toEqual(['REQUEST_CANCELLED']);
  expect((await statusOf(page)).state, 'the component that is left still has the client').toBe('ready');
  await page.getByRole('button', { name: 'Remove one' }).click();
  await expect.poll(async () => (await statusOf(page)).state, 'nobody uses it').toBe('closed');
});

/**
 * Begins a request, waits for a part of a component to have a text, and clicks again. All this runs in the page, because a
 * request may end before a click from the test arrives. On a fast machine it also ends between two reports of the figures,
 * which come every 100 ms: then the next one begins.
 */
function clickInPage(
  page: Page,
  begin: readonly [label: string, button: string],
  until: readonly [label: string, part: string, text: string],
  then: readonly [label: string, button: string],
): Promise<void> {
  return page.evaluate(
    async ([first, [place, part, text], last]) => {
      // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
      const click = ([label, name]: readonly [string, string]): void => {
        const buttons = document.querySelectorAll<HTMLElement>(`[aria-label=${label}] button`);
        [...buttons].find(({ textContent }) => textContent === name)?.click();
      };
      // oxlint-disable-next-line unicorn/consistent-function-scoping -- only this function is sent to the page
      const textAt = (label: string, selector: string): string | null | undefined =>
        document.querySelector(`[aria-label=${label}] ${selector}`)?.textContent;
      const isRunning = (): boolean => textAt(first[0], '[role=status]') === 'running';
      do {
        if (!isRunning()) click(first);
        await new Promise((resolve) => void requestAnimationFrame(resolve));
      } while (!isRunning() || textAt(place, `[data-testid=${part}]`) !== text);
      click(last);
    },
    [begin, until, then] as const,
  );
}

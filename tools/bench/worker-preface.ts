import type { Page } from 'playwright';

/** The worker's script, with any hash. */
const WORKER_SCRIPT = /\/assets\/main-[^/]*\.js$/;

/**
 * Puts a function in front of the script of the page's worker. Call it before the page is opened.
 *
 * @param run Sent to the worker as text, so it sees nothing but its argument.
 */
export async function runBeforeWorker<Argument>(
  page: Page,
  run: (argument: Argument) => void,
  argument: Argument,
): Promise<void> {
  await page.route(WORKER_SCRIPT, async (route) => {
    const response = await route.fetch();
    const preface = `(${String(run)})(${JSON.stringify(argument)});`;
    await route.fulfill({ response, body: preface + (await response.text()) });
  });
}

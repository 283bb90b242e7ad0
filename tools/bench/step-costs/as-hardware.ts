import type { Page } from 'playwright';

/** The worker's script, with any hash. */
const WORKER_SCRIPT = /\/assets\/main-[^/]*\.js$/;

/**
 * Makes the page's worker treat its adapter as hardware, so that a step has the operators of a GPU. The product has no such
 * switch, so a function is put in front of the worker's script.
 */
export async function treatAdapterAsHardware(page: Page): Promise<void> {
  await page.route(WORKER_SCRIPT, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `(${String(nameAdapter)})();${await response.text()}` });
  });
}

/** Runs in the worker: it is sent there as text. */
function nameAdapter(): void {
  const values = {
    vendor: 'taken for hardware',
    architecture: '',
    device: '',
    description: '',
    isFallbackAdapter: false,
  };
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => value });
  }
}

import type { Page } from 'playwright';

/** The worker's own script, whatever its hash. */
const WORKER_SCRIPT = /\/assets\/main-[^/]*\.js$/;

/**
 * Makes the page's worker take its adapter for hardware, so that a step has the operators that it has on a GPU. The product has no
 * such switch: its script is given another beginning.
 */
export async function takeAdapterForHardware(page: Page): Promise<void> {
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

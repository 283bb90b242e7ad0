import type { Page } from 'playwright';

import { runBeforeWorker } from '../worker-preface.ts';

/**
 * Makes the page's worker treat its adapter as hardware, so that a step has the operators of a GPU. The product has no such
 * switch.
 */
export function treatAdapterAsHardware(page: Page): Promise<void> {
  return runBeforeWorker(page, nameAdapter, {
    vendor: 'taken for hardware',
    architecture: '',
    device: '',
    description: '',
    isFallbackAdapter: false,
  });
}

/** Runs in the worker. */
function nameAdapter(values: Readonly<Record<string, string | boolean>>): void {
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(GPUAdapterInfo.prototype, name, { get: () => value });
  }
}

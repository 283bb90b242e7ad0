import type { BrowserContext, Page } from 'playwright';

import type { TabserveClient } from '../../src/client/client.ts';
import type { PageDeployments } from '../../src/deployments/registry.ts';
import type { BackendInfo, ModelInfo } from '../../src/protocol/models.ts';
import type { TabserveStatus } from '../../src/protocol/status.ts';

declare global {
  interface Window {
    tabserve: TabserveClient<PageDeployments>;
  }
}

export interface ReadyPage {
  readonly page: Page;
  readonly status: TabserveStatus;
}

export async function openReady(context: BrowserContext, url: string): Promise<ReadyPage> {
  const page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction(() => 'tabserve' in window);
  return { page, status: await page.evaluate(() => window.tabserve.ready()) };
}

/** The backend and model that a ready page names. */
export function loadedOf({ backend, model }: TabserveStatus): { backend: BackendInfo; model: ModelInfo } {
  if (!backend || !model) throw new Error('The page is ready but names no backend or model.');
  return { backend, model };
}

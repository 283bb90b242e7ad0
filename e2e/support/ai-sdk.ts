import { fileURLToPath } from 'node:url';

import { bundleForPage } from './page-script.ts';
import type { Tab } from './tab.ts';

const ENTRY = fileURLToPath(new URL('ai-sdk-page.ts', import.meta.url));

let script: Promise<string> | undefined;

export async function installAiSdk({ page }: Tab): Promise<void> {
  script ??= bundleForPage({ entryPoints: [ENTRY] });
  await page.evaluate(await script);
}

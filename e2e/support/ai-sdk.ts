import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import type { Tab } from './tab.ts';

let script: Promise<string> | undefined;

/** Makes `window.aiSdk` in a page. */
export async function installAiSdk({ page }: Tab): Promise<void> {
  script ??= bundle();
  await page.evaluate(await script);
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('ai-sdk-page.ts', import.meta.url))],
    bundle: true,
    format: 'iife',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  });
  return outputFiles[0]?.text ?? '';
}

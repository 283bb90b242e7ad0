import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

import type {
  LanguageModel,
  LanguageModelClass,
  PromptApiOptions,
} from '../../src/client/prompt-api/index.ts';
import type { Tab } from './tab.ts';

type Options = Omit<PromptApiOptions, 'serve' | 'worker'>;

declare global {
  interface Window {
    promptApi: typeof import('../../src/client/prompt-api/index.ts');
    LanguageModel: LanguageModelClass;
    /** Kept for the next step of a test. */
    session?: LanguageModel;
  }
}

const ENTRY = fileURLToPath(new URL('../../src/client/prompt-api/index.ts', import.meta.url));

let script: Promise<string> | undefined;

/** Installs the Prompt API in a page, on the client of the page. */
export async function installPromptApi({ page }: Tab, options: Options = {}): Promise<void> {
  script ??= bundle();
  await page.evaluate(await script);
  await page.evaluate((given) => {
    window.promptApi.installPromptApi({ ...given, serve: window.tabserve, force: true });
  }, options);
}

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    format: 'iife',
    globalName: 'promptApi',
    target: 'es2022',
    write: false,
  });
  // A declaration would be the evaluation's own.
  return `${outputFiles[0]?.text ?? ''}\nwindow.promptApi = promptApi;`;
}

import { fileURLToPath } from 'node:url';

import type {
  LanguageModel,
  LanguageModelClass,
  PromptApiOptions,
} from '../../src/client/prompt-api/index.ts';
import { bundleForPage } from './page-script.ts';
import type { Tab } from './tab.ts';

type Options = Omit<PromptApiOptions, 'serve' | 'worker'>;

declare global {
  interface Window {
    promptApi: typeof import('../../src/client/prompt-api/index.ts');
    LanguageModel: LanguageModelClass;
    session?: LanguageModel;
  }
}

const ENTRY = fileURLToPath(new URL('../../src/client/prompt-api/index.ts', import.meta.url));

let script: Promise<string> | undefined;

/** Installs the Prompt API in a page, on the client of the page. */
export async function installPromptApi({ page }: Tab, options: Options = {}): Promise<void> {
  script ??= bundleForPage({ entryPoints: [ENTRY], globalName: 'promptApi' });
  // A declaration would be the evaluation's own.
  await page.evaluate(`${await script}\nwindow.promptApi = promptApi;`);
  await page.evaluate((given) => {
    window.promptApi.installPromptApi({ ...given, serve: window.tabserve, force: true });
  }, options);
}

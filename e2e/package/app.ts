import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { InstalledPackage } from './installed-package.ts';

const APP = appOf('');

/** The page's script. @param options More of those of `connect`. */
export function appOf(options: string): string {
  return `import { connect } from 'tabserve';

const query = new URLSearchParams(location.search);
window.serve = await connect({
  name: query.get('name') ?? undefined,
  canLead: !query.has('follows'),
  backend: 'wasm',
  worker: () => new Worker(new URL('./my-worker.js', import.meta.url), { type: 'module' }),
  ${options}
});
`;
}

const WORKER = (workerModule: string, runtimeUrl: string | undefined): string => `
import { defineDeployment, startWorker } from '${workerModule}';

const upperCase = defineDeployment({
  name: 'upper-case',
  checkInput: (input) => String(input),
  handler: async (texts) => texts.map((text) => text.toUpperCase()),
});
// More than a small machine has, so that threads are used.
Object.defineProperty(navigator, 'hardwareConcurrency', { value: 4 });
startWorker({ deployments: [upperCase]${runtimeUrl === undefined ? '' : `, runtimeUrl: '${runtimeUrl}'`} });
`;

const PAGE = (head: string, script: string): string =>
  `<!doctype html><html><head>${head}<title>An app</title></head><body><div id="root"></div><script type="module" src="${script}"></script></body></html>\n`;

export interface AppParts {
  readonly head?: string;
  readonly app?: string;
  readonly workerModule?: string;
  readonly runtimeUrl?: string;
}

/** Writes an app beside the installed package; returns its folder. */
export async function writeApp(
  place: InstalledPackage,
  { head = '', app = APP, workerModule = 'tabserve/worker', runtimeUrl }: AppParts = {},
): Promise<string> {
  const folder = await mkdtemp(join(place.folder, 'app-'));
  await writeFile(join(folder, 'app.js'), app);
  await writeFile(join(folder, 'my-worker.js'), WORKER(workerModule, runtimeUrl));
  await writeFile(join(folder, 'index.html'), PAGE(head, './app.js'));
  return folder;
}

import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const APP = `import { connect } from 'tabserve';

const query = new URLSearchParams(location.search);
window.serve = await connect({
  ...(query.has('name') && { name: query.get('name') }),
  backend: 'wasm',
  worker: () => new Worker(new URL('./my-worker.js', import.meta.url), { type: 'module' }),
});
`;

/** The script of the app's worker. */
const WORKER = (workerModule: string, runtimeUrl: string | undefined): string => `
import { defineDeployment, startWorker } from '${workerModule}';

const upperCase = defineDeployment({
  name: 'upper-case',
  checkInput: (input) => String(input),
  handler: async (texts) => texts.map((text) => text.toUpperCase()),
});
startWorker({ deployments: [upperCase]${runtimeUrl === undefined ? '' : `, runtimeUrl: '${runtimeUrl}'`} });
`;

const PAGE = (head: string, script: string): string =>
  `<!doctype html><html><head>${head}<title>An app</title></head><body><script type="module" src="${script}"></script></body></html>\n`;

/** What differs between apps. */
export interface AppParts {
  /** More of the page's head. */
  readonly head?: string;
  /** The page's script. */
  readonly script?: string;
  /** What the worker's script imports. */
  readonly workerModule?: string;
  readonly runtimeUrl?: string;
}

/** The packed package, unpacked where npm would install it. What runs in browsers has no dependencies. */
export class Workplace {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<Workplace> {
    const workplace = new Workplace(await mkdtemp(join(tmpdir(), 'tabserve-package-')));
    const { folder } = workplace;
    await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
    const installed = join(folder, 'node_modules/tabserve');
    await mkdir(installed, { recursive: true });
    const tarball = await run('sh', ['-c', 'ls *.tgz'], { cwd: folder });
    await run('tar', ['-xzf', tarball.stdout.trim(), '-C', installed, '--strip-components=1'], {
      cwd: folder,
    });
    return workplace;
  }

  /** Writes an app below the folder, with the embedded model in its public folder; returns its own folder. */
  async writeApp(
    name: string,
    { head = '', script = './app.js', workerModule = 'tabserve/worker', runtimeUrl }: AppParts = {},
  ): Promise<string> {
    const app = join(this.folder, name);
    const model = 'models/storyteller';
    await mkdir(join(app, 'public'), { recursive: true });
    await cp(join(this.folder, 'node_modules/tabserve/dist', model), join(app, 'public', model), {
      recursive: true,
    });
    await writeFile(join(app, 'app.js'), APP);
    await writeFile(join(app, 'my-worker.js'), WORKER(workerModule, runtimeUrl));
    await writeFile(join(app, 'index.html'), PAGE(head, script));
    return app;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

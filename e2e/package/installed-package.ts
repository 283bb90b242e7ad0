import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import manifest from '../../package.json' with { type: 'json' };
import { ROOT, TARBALL } from '../../tools/package/build/paths.ts';

const run = promisify(execFile);

/** A folder outside of the repository. npm has installed the packed package there, its peers, and the examples with their dependencies. */
export class InstalledPackage {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  static async create(): Promise<InstalledPackage> {
    const folder = await mkdtemp(join(tmpdir(), 'tabserve-package-'));
    // At the place where the examples look for it.
    await cp(TARBALL, join(folder, 'tabserve.tgz'));
    await cp(join(ROOT, 'examples'), join(folder, 'examples'), {
      recursive: true,
      filter: (path) => !/[/\\](?:node_modules|dist|package-lock\.json)$/.test(path),
    });
    const app = {
      private: true,
      type: 'module',
      workspaces: ['examples/*'],
      dependencies: {
        tabserve: 'file:tabserve.tgz',
        'playwright-core': manifest.devDependencies['playwright-core'],
      },
    };
    await writeFile(join(folder, 'package.json'), JSON.stringify(app));
    // Packages of the same version as in the repository come from npm's cache.
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund'], { cwd: folder });
    return new InstalledPackage(folder);
  }

  pathOf(file: string): string {
    return join(this.folder, 'node_modules/tabserve', file);
  }

  async runScript(example: string, script: string): Promise<void> {
    // As `npm run`, without the start of npm.
    await run(process.execPath, ['--run', script], { cwd: join(this.folder, 'examples', example) });
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}

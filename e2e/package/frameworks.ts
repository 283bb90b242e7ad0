import { spawn, execFile } from 'node:child_process';
import { once } from 'node:events';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { installApart } from '../../tools/install-apart.ts';
import { findFreePort } from '../../bridge/testing/listen.ts';
import { filesOf, writeFilesTo } from './documents.ts';
import type { InstalledPackage } from './installed-package.ts';
import type { ServedApp } from '../support/serve-folders.ts';

const FOLDER = new URL('frameworks/', import.meta.url);
const ROOT = fileURLToPath(FOLDER);

/** Programs of a framework, with their arguments, in the folder of its app. */
interface Framework {
  readonly build: readonly string[];
  /** Listens on the port that `PORT` names. */
  readonly serve: readonly string[];
}

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);

export const FRAMEWORKS = {
  next: { build: [bin('next'), 'build'], serve: [bin('next'), 'start'] },
  sveltekit: { build: [bin('vite'), 'build'], serve: [process.execPath, 'build'] },
  nuxt: { build: [bin('nuxt'), 'build'], serve: [process.execPath, '.output/server/index.mjs'] },
} as const satisfies Record<string, Framework>;

const run = promisify(execFile);

/** Builds the document's app in a framework, with the framework's own command, and serves it with its own server. */
export async function serveFrameworkApp(
  place: InstalledPackage,
  name: keyof typeof FRAMEWORKS,
): Promise<ServedApp> {
  await installApart(FOLDER, 'the frameworks');
  await rm(join(ROOT, 'node_modules/tabserve'), { recursive: true, force: true });
  await cp(place.pathOf(''), join(ROOT, 'node_modules/tabserve'), { recursive: true });
  const folder = join(ROOT, 'dist', name);
  await rm(folder, { recursive: true, force: true });
  await cp(join(ROOT, name), folder, { recursive: true });
  await writeFilesTo(folder, filesOf('docs/frameworks.md', name));
  const { build, serve }: Framework = FRAMEWORKS[name];
  const [builder = '', ...buildArguments] = build;
  await run(builder, buildArguments, { cwd: folder, env: environment() });
  return startServer(folder, serve);
}

const environment = (more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  NODE_ENV: 'production',
  NEXT_TELEMETRY_DISABLED: '1',
  NUXT_TELEMETRY_DISABLED: '1',
  ...more,
});

async function startServer(cwd: string, [program = '', ...args]: readonly string[]): Promise<ServedApp> {
  const port = await findFreePort('localhost');
  const child = spawn(program, args, {
    cwd,
    env: environment({ PORT: String(port), HOST: 'localhost' }),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(child, 'exit');
  const url = `http://localhost:${port}/`;
  await untilItAnswers(url);
  return {
    url,
    async close() {
      child.kill();
      await exited;
    },
  };
}

async function untilItAnswers(url: string): Promise<void> {
  for (;;) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok) return;
    await new Promise((resolve) => void setTimeout(resolve, 100));
  }
}

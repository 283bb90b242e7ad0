import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { chromium } from 'playwright';

import { findOnPath, installPackages } from '../../../bridge/browser/commands.ts';
import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import type { TabbedBrowser } from '../peers/with-tabs.ts';

const SCREEN = 'Xvfb';

/**
 * Starts the browser in an ordinary window, as its user would: no argument of automation or about background tabs. The screen is
 * Xvfb's. The connection emulates neither focus nor visibility.
 */
export async function withWindow<Result>(run: (browser: TabbedBrowser) => Promise<Result>): Promise<Result> {
  if (!findOnPath(SCREEN) && !(await installPackages('xvfb')))
    throw new Error('Xvfb is missing: install it (on Debian: apt-get install xvfb).');
  const { path, version } = await findBrowser();
  const screen = spawn(SCREEN, ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const profile = await mkdtemp(join(tmpdir(), 'hidden-'));
  let browser: ChildProcess | undefined;
  try {
    const display = await lineOf(screen.stdio[3], /^(\d+)$/);
    const args = [
      '--no-sandbox',
      '--no-first-run',
      `--user-data-dir=${profile}`,
      '--remote-debugging-port=0',
    ];
    browser = spawn(path, [...args, 'about:blank'], {
      env: { ...process.env, DISPLAY: `:${display}` },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const address = await lineOf(browser.stderr, /^DevTools listening on (\S+)$/);
    const connection = await chromium.connectOverCDP(address, { noDefaults: true });
    const [context] = connection.contexts();
    if (!context) throw new Error('The browser has no window.');
    return await run({ context, version });
  } finally {
    for (const child of [browser, screen]) await stop(child);
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** The group of the first line that matches. */
async function lineOf(stream: unknown, pattern: RegExp): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Node types pipes beyond the third loosely
  for await (const line of createInterface(stream as Readable)) {
    const found = pattern.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error(`Expected a line like ${pattern}, got none`);
}

async function stop(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

import { findBrowser, inspect, type Browser } from '../bridge/browser/find-browser.ts';
import { findOnPath, installPackages } from '../bridge/browser/commands.ts';

export interface TestBrowsers {
  /** The whole one. The command, the extension and profiles on the disk need it. */
  readonly whole: Browser;
  /** In which pages are opened: `whole` in the whole run, where CHROME_PATH names a browser, and where windows are to be seen. */
  readonly ofPages: Browser;
}

/** The same engine without windows, which are a fifth of the work of the tests. */
const SHELL = 'chromium-headless-shell';

export async function findBrowsers(isHeadless: boolean): Promise<TestBrowsers> {
  const whole = await findBrowser();
  if (!isHeadless || process.env['FULL'] || process.env['CHROME_PATH']) return { whole, ofPages: whole };
  const shell = await findShell();
  if (shell) console.log(`Pages in: ${shell.version} (${shell.source}: ${shell.path})`);
  return { whole, ofPages: shell ?? whole };
}

/** Installed on CI alone: elsewhere the whole browser is good enough to leave the machine as it is. */
async function findShell(): Promise<Browser | undefined> {
  const path =
    findOnPath(SHELL) ??
    (process.env['CI'] && (await installPackages(SHELL)) ? findOnPath(SHELL) : undefined);
  return path === undefined ? undefined : inspect(path, 'installed');
}

// `npm test` installs missing browsers, which waits for the network, while the checks compute.
if (import.meta.main) await findBrowsers(true);

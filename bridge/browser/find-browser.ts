import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { findOnPath, INSTALL_TIMEOUT_MS, installPackages, runCommand } from './commands.ts';

export interface Browser {
  readonly path: string;
  /** As the browser says it, such as `Chromium 156.0.8078.79`. */
  readonly version: string;
  /** How it was found. */
  readonly source: string;
}

const REMEDY =
  'No Chrome or Chromium was found and none could be installed: install one (on Debian: apt-get install chromium) ' +
  'or set CHROME_PATH to its executable.';

/** The message names the remedy. */
export class BrowserMissingError extends Error {}

const LINUX_COMMANDS = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'];

const MAC_APPS = ['Google Chrome', 'Chromium'];

const WINDOWS_FOLDERS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];

/** Ways to find a browser, best first; each gives undefined if there is none. */
const WAYS: readonly (() => Promise<Browser | undefined>)[] = [
  browserOfEnvironment,
  installedBrowser,
  playwrightBrowser,
  newPlaywrightBrowser,
  newDebianBrowser,
];

/** Finds a browser, installs one where there is none, and says in one line which it is. */
export async function findBrowser(): Promise<Browser> {
  for (const way of WAYS) {
    const browser = await way();
    if (browser) {
      console.log(`Browser: ${browser.version} (${browser.source}: ${browser.path})`);
      return browser;
    }
  }
  throw new BrowserMissingError(REMEDY);
}

/** CHROME_PATH is an order, not a hint: a wrong one fails instead of falling through. */
async function browserOfEnvironment(): Promise<Browser | undefined> {
  const path = process.env['CHROME_PATH'];
  if (!path) return undefined;
  const browser = await inspect(path, 'CHROME_PATH');
  if (!browser)
    throw new BrowserMissingError(`CHROME_PATH names ${path}, which does not start: correct or unset it.`);
  return browser;
}

async function installedBrowser(): Promise<Browser | undefined> {
  const candidates = await Promise.all(installedBrowsers().map((path) => inspect(path, 'installed')));
  return candidates.find((browser) => browser !== undefined);
}

/** Where Chrome and Chromium usually are on this platform, best first; the files need not exist. */
function installedBrowsers(): readonly string[] {
  if (process.platform === 'darwin')
    return MAC_APPS.map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);
  if (process.platform === 'win32') return windowsBrowsers();
  return LINUX_COMMANDS.flatMap((command) => findOnPath(command) ?? []);
}

function windowsBrowsers(): readonly string[] {
  const folders = WINDOWS_FOLDERS.flatMap((variable) => process.env[variable] ?? []);
  return folders.flatMap((folder) => [
    join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
    join(folder, 'Chromium', 'Application', 'chrome.exe'),
  ]);
}

async function playwrightBrowser(): Promise<Browser | undefined> {
  const { chromium } = await import('playwright-core');
  return inspect(chromium.executablePath(), "Playwright's own");
}

async function newPlaywrightBrowser(): Promise<Browser | undefined> {
  console.log('No browser is installed: downloading the one of Playwright.');
  const command = join(fileURLToPath(import.meta.resolve('playwright-core/package.json')), '../cli.js');
  const args = [command, 'install', '--no-shell', 'chromium'];
  await runCommand(process.execPath, args, { timeoutMs: INSTALL_TIMEOUT_MS });
  return playwrightBrowser();
}

async function newDebianBrowser(): Promise<Browser | undefined> {
  return (await installPackages('chromium')) ? installedBrowser() : undefined;
}

/** Starts it for its version: a download that lacks system libraries exists but does not start. */
export async function inspect(path: string, source: string): Promise<Browser | undefined> {
  if (!existsSync(path)) return undefined;
  // Chrome for Windows opens a window instead of printing its version.
  if (process.platform === 'win32') return { path, version: 'Chrome', source };
  const { isSuccess, output } = await runCommand(path, ['--version'], { timeoutMs: 30_000, isQuiet: true });
  return isSuccess ? { path, version: shortVersion(output), source } : undefined;
}

function shortVersion(output: string): string {
  return /\S+(?: \S+)*? [\d.]+/.exec(output)?.[0] ?? output.trim();
}

import { findOnPath, installPackages } from '../../bridge/browser/commands.ts';
import { inspect, type Browser } from '../../bridge/browser/find-browser.ts';

const REMEDY =
  'No Firefox was found and none could be installed: install one (on Debian: apt-get install firefox-esr) ' +
  'or set FIREFOX_PATH to its executable.';

const COMMANDS = ['firefox-esr', 'firefox'];
const MAC_APP = '/Applications/Firefox.app/Contents/MacOS/firefox';

/** Finds a Firefox, or installs the distribution's. FIREFOX_PATH is an order, not a hint. */
export async function findFirefox(): Promise<Browser> {
  const path = process.env['FIREFOX_PATH'];
  const browser = path ? await inspect(path, 'FIREFOX_PATH') : await installedOrNew();
  if (browser) return browser;
  throw new Error(path ? `FIREFOX_PATH names ${path}, which does not start: correct or unset it.` : REMEDY);
}

async function installedOrNew(): Promise<Browser | undefined> {
  const installed = await installedFirefox('installed');
  if (installed) return installed;
  return (await installPackages('firefox-esr')) ? installedFirefox('newly installed') : undefined;
}

async function installedFirefox(source: string): Promise<Browser | undefined> {
  const paths = [...COMMANDS.flatMap((command) => findOnPath(command) ?? []), MAC_APP];
  const found = await Promise.all(paths.map((path) => inspect(path, source)));
  return found.find((browser) => browser !== undefined);
}

import { join } from 'node:path';

import { findOnPath } from './commands.ts';

const LINUX_COMMANDS = ['google-chrome-stable', 'google-chrome', 'chromium', 'chromium-browser'];

const MAC_APPS = ['Google Chrome', 'Chromium'];

const WINDOWS_FOLDERS = ['PROGRAMFILES', 'PROGRAMFILES(X86)', 'LOCALAPPDATA'];

/** Where Chrome and Chromium usually are on this platform, best first; the files need not exist. */
export function installedBrowsers(): readonly string[] {
  if (process.platform === 'darwin') return macBrowsers();
  if (process.platform === 'win32') return windowsBrowsers();
  return LINUX_COMMANDS.flatMap((command) => findOnPath(command) ?? []);
}

function macBrowsers(): readonly string[] {
  return MAC_APPS.map((app) => `/Applications/${app}.app/Contents/MacOS/${app}`);
}

function windowsBrowsers(): readonly string[] {
  const folders = WINDOWS_FOLDERS.flatMap((variable) => process.env[variable] ?? []);
  return folders.flatMap((folder) => [
    join(folder, 'Google', 'Chrome', 'Application', 'chrome.exe'),
    join(folder, 'Chromium', 'Application', 'chrome.exe'),
  ]);
}

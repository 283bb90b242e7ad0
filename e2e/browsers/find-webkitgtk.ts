import { globSync } from 'node:fs';

import { findOnPath, installPackages } from '../../bridge/browser/commands.ts';

/** Paths of the files that drive WebKitGTK. */
export interface WebKitGtk {
  /** MiniBrowser, the library's own. */
  readonly browserPath: string;
  readonly driverPath: string;
  /** An X server without a screen: this browser has no headless mode. */
  readonly displayPath: string;
  /** How it was found. */
  readonly source: string;
}

const REMEDY =
  'WebKitGTK was not found whole and could not be installed: install its driver and an X server ' +
  '(on Debian: apt-get install webkit2gtk-driver xvfb).';

/** The paths of Debian, then of Fedora and Arch. */
const BROWSERS = ['/usr/lib/*/webkit2gtk-4.*/MiniBrowser', '/usr/{lib,libexec}/webkit2gtk-4.*/MiniBrowser'];

/** Finds a WebKitGTK with its driver, or installs the distribution's. */
export async function findWebKitGtk(): Promise<WebKitGtk> {
  const installed = installedWebKitGtk('installed');
  if (installed) return installed;
  await installPackages('webkit2gtk-driver', 'xvfb');
  const added = installedWebKitGtk('newly installed');
  if (added) return added;
  throw new Error(REMEDY);
}

function installedWebKitGtk(source: string): WebKitGtk | undefined {
  const browserPath = globSync(BROWSERS).toSorted().at(-1);
  const driverPath = findOnPath('WebKitWebDriver');
  const displayPath = findOnPath('Xvfb');
  if (browserPath === undefined || driverPath === undefined || displayPath === undefined) return undefined;
  return { browserPath, driverPath, displayPath, source };
}

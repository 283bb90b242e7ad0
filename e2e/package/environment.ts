import { InstalledPackage } from './installed-package.ts';

const BROWSER = 'TABSERVE_PACKAGE_BROWSER';
const FOLDER = 'TABSERVE_PACKAGE_FOLDER';

/**
 * The environment is all that Playwright hands from the set-up to its worker processes.
 *
 * @param path Of the browser.
 */
export function writeEnvironment(path: string, place: InstalledPackage): void {
  process.env[BROWSER] = path;
  process.env[FOLDER] = place.folder;
}

/** Undefined before the set-up. */
export function browserPath(): string | undefined {
  return process.env[BROWSER];
}

export function installedPackage(): InstalledPackage {
  const folder = process.env[FOLDER];
  if (folder === undefined)
    throw new Error('The package is not installed: start the tests with `npm run test:package`.');
  return new InstalledPackage(folder);
}

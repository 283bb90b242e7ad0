import { findBrowser } from '../../bridge/browser/find-browser.ts';
import { writeEnvironment } from './environment.ts';
import { InstalledPackage } from './installed-package.ts';

/** Finds the browser, and packs and installs the package once for all tests; returns the way to end that. */
// oxlint-disable-next-line import/no-default-export -- Playwright asks for one
export default async function setUp(): Promise<() => Promise<void>> {
  const { path } = await findBrowser();
  const place = await InstalledPackage.create();
  writeEnvironment(path, place);
  return () => place.remove();
}

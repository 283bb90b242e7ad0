import { startServer } from '../bridge/server.ts';
import { findBrowser } from '../tools/browser/find-browser.ts';
import { writeEnvironment } from './support/environment.ts';

/** Finds the browser and serves both built pages; returns the way to end that. */
// oxlint-disable-next-line import/no-default-export -- Playwright asks for one
export default async function setUp(): Promise<() => Promise<void>> {
  const browser = await findBrowser();
  const page = await startServer({ host: 'localhost', port: 0, root: rootOf('dist') });
  const faults = await startServer({ host: 'localhost', port: 0, root: rootOf('dist-faults') });
  const probe = await startServer({ host: 'localhost', port: 0, root: rootOf('dist-probe') });
  writeEnvironment({
    browserPath: browser.path,
    pageUrl: page.url,
    faultsUrl: faults.url,
    probeUrl: probe.url,
  });
  return async () => {
    await Promise.all([page.close(), faults.close(), probe.close()]);
  };
}

function rootOf(folder: string): string {
  return new URL(`../${folder}`, import.meta.url).pathname;
}

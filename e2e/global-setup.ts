import type { FullConfig } from 'playwright/test';

import { startServer } from '../bridge/server.ts';
import { findBrowsers } from './find-browser.ts';
import { writeEnvironment } from './support/environment.ts';
import { runSeed } from './support/seeded-random.ts';
import { collectPolicyReports, reportingPolicy, takePolicyReports } from './support/policy-reports.ts';

/** Finds the browsers and serves the built pages. Returns the function that stops the servers. */
// oxlint-disable-next-line import/no-default-export -- Playwright asks for one
export default async function setUp({ projects }: FullConfig): Promise<() => Promise<void>> {
  console.log(`Seed ${runSeed()}: repeat this run with E2E_SEED=${runSeed()}`);
  const { whole, ofPages } = await findBrowsers(projects.every(({ use }) => use.headless !== false));
  const reports = await collectPolicyReports();
  const policy = reportingPolicy(reports.url);
  const page = await startServer({ host: 'localhost', port: 0, root: rootOf('dist'), policy });
  const faults = await startServer({ host: 'localhost', port: 0, root: rootOf('dist-faults'), policy });
  const probe = await startServer({ host: 'localhost', port: 0, root: rootOf('dist-probe'), policy });
  writeEnvironment({
    browserPath: whole.path,
    pagesBrowserPath: ofPages.path,
    pageUrl: page.url,
    faultsUrl: faults.url,
    probeUrl: probe.url,
    reportUrl: reports.url,
  });
  return async () => {
    await Promise.all([page.close(), faults.close(), probe.close()]);
    const late = await takePolicyReports(reports.url);
    await reports.close();
    if (late.length > 0) throw new Error(`The policy was violated after the last test:\n${late.join('\n')}`);
  };
}

function rootOf(folder: string): string {
  return new URL(`../${folder}`, import.meta.url).pathname;
}

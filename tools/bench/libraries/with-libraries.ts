import { setTimeout as timePassed } from 'node:timers/promises';
import type { Page } from 'playwright';

import { startServer } from '../../../bridge/server.ts';
import type { BackendName, Chosen } from '../bench-case.ts';
import { firstLineOf } from '../measure-groups.ts';
import { launchTabs } from '../launch.ts';
import { bytesOfProcess, rendererOf } from '../process-memory.ts';
import { LIBRARIES_POLICY, LIBRARIES_ROOT } from './build-libraries.ts';
import type { Burst, ContenderSpec, TimedRequest } from './contender.ts';

/** A contender, loaded in a tab of its own. */
export interface Entrant {
  readonly spec: ContenderSpec;
  readonly runsOn: string;
  readonly failure?: string;
  /** Measures in a tab that is in front. */
  readonly run: (requests: readonly TimedRequest[], leastMs: number) => Promise<readonly Burst[]>;
  /** What the tab's process has now, in bytes. */
  readonly memory: () => number;
}

/** A tab that comes to the front is redrawn, which takes a core. Its requests start after that. */
const SETTLING_MS = 250;

/** Opens the contenders in the tabs of one browser. The libraries' page and its models must be there. */
export async function withLibraries(
  { browserArgs, backend }: Pick<Chosen, 'browserArgs' | 'backend'>,
  specs: readonly ContenderSpec[],
  numSlots: number,
  run: (entrants: readonly Entrant[], browser: string) => Promise<void>,
): Promise<void> {
  const site = { host: 'localhost', port: 0, root: LIBRARIES_ROOT, policy: LIBRARIES_POLICY };
  await using server = await startServer(site);
  const { context, version, ...launched } = await launchTabs(browserArgs);
  await using _ = launched.browser;
  const entrants: Entrant[] = [];
  for (const spec of specs) {
    const page = await context.newPage();
    page.on('pageerror', (error) => console.error(`${spec.label}: ${error.message}`));
    const [path, name] = spec.isInPage
      ? [`tabserve.html?backend=${backend}`, 'tabserve']
      : ['', 'benchLibrary'];
    await page.goto(`${server.url}/${path}`);
    await page.waitForFunction((wanted) => 'benchLibrary' in window && wanted in window, name);
    const loaded = await load(page, spec, backend, numSlots);
    const id = await rendererOf(page);
    entrants.push({ ...loaded, memory: () => bytesOfProcess(id, 'VmRSS') });
  }
  await run(entrants, version);
}

async function load(
  page: Page,
  spec: ContenderSpec,
  backend: BackendName,
  numSlots: number,
): Promise<Omit<Entrant, 'memory'>> {
  const run: Entrant['run'] = async (requests, leastMs) => {
    await page.bringToFront();
    await timePassed(SETTLING_MS);
    return page.evaluate(([timed, ms]) => window.benchLibrary.run(timed, ms), [requests, leastMs] as const);
  };
  try {
    const args = [spec, backend, numSlots] as const;
    const runsOn = await page.evaluate((given) => window.benchLibrary.load(...given), args);
    console.log(`${spec.label}: ${runsOn}`);
    return { spec, runsOn, run };
  } catch (error) {
    return { spec, runsOn: '', failure: firstLineOf(error), run };
  }
}

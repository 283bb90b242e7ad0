import { setTimeout as timePassed } from 'node:timers/promises';
import type { BrowserContext, Page } from 'playwright';

import { SUSTAINED_MS } from '../engine/scenarios.ts';
import type { BenchCase } from './cases.ts';
import type { BenchModel } from '../command-line.ts';
import { CONTENDERS, ENTRANTS, type BackendName, type ContenderName } from './contender.ts';
import type { CaseRun } from './page/run-case.ts';
import { numTokensOf, wallMsOf, type Measured } from './summarize.ts';

/** A contender, loaded in a page of its own. */
export interface Entrant {
  readonly name: ContenderName;
  readonly page: Page;
  readonly runsOn: string;
}

/** The pages of the contenders. */
export interface Sites {
  /** Address of the libraries' page. */
  readonly librariesUrl: string;
  /** Address of the built application. */
  readonly applicationUrl: string;
  /** Script that lets the benchmark drive the application. */
  readonly driver: string;
}

/** Lets shaders compile, which they do when a shape first occurs, and the browser optimize WebAssembly. */
const WARM_UP_MS = 4000;
const WARM_UP_TOKENS = 8;
/** A tab that comes to the front is redrawn, which takes a core. Its requests start after that. */
const SETTLING_MS = 250;

export async function loadEntrants(
  context: BrowserContext,
  sites: Sites,
  backend: BackendName,
  model: BenchModel,
): Promise<readonly Entrant[]> {
  const entrants: Entrant[] = [];
  for (const name of ENTRANTS[model]) {
    const page = await context.newPage();
    page.on('pageerror', (error) => console.error(`${CONTENDERS[name]}: ${error.message}`));
    if (name === 'tabserve-page') await openApplication(page, sites, backend);
    else await page.goto(sites.librariesUrl);
    await page.waitForFunction(() => 'benchPeers' in window);
    const runsOn = await page.evaluate((chosen) => window.benchPeers.load(...chosen), [
      name,
      backend,
      model,
    ] as const);
    entrants.push({ name, page, runsOn });
  }
  return entrants;
}

async function openApplication(
  page: Page,
  { applicationUrl, driver }: Sites,
  backend: BackendName,
): Promise<void> {
  await page.goto(`${applicationUrl}/?backend=${backend}`);
  await page.waitForFunction(() => window.tabserve !== undefined);
  await page.evaluate(driver);
}

/** Measures in rounds that each start with another contender, so that disturbances of the machine affect all alike. */
export async function measureAll(
  cases: readonly BenchCase[],
  entrants: readonly Entrant[],
  numRounds: number,
): Promise<readonly Measured[]> {
  const measured = cases.flatMap((benchCase) =>
    entrants
      .filter(({ name }) => !benchCase.leftOut[name])
      .map((entrant) => ({ benchCase, entrant, runs: [] as CaseRun[] })),
  );
  const [first] = cases;
  for (const { benchCase, entrant } of measured) {
    if (!benchCase.isSlow || benchCase === first) await warmUp(benchCase, entrant);
  }
  for (let round = 0; round < numRounds; round++) {
    for (const inCase of cases) {
      const all = measured.filter(({ benchCase }) => benchCase === inCase);
      const turn = round % all.length;
      for (const { entrant, runs } of [...all.slice(turn), ...all.slice(0, turn)]) {
        const run = await measure(inCase, entrant);
        runs.push(run);
        logProgress(round + 1, inCase, entrant, run);
      }
    }
  }
  return measured;
}

async function warmUp(benchCase: BenchCase, { page }: Entrant): Promise<void> {
  await page.bringToFront();
  await runIn(page, cutShort(benchCase), WARM_UP_MS);
}

/** Measures in a tab that is in front and warm: a short run comes first, because a hidden tab cools down. */
async function measure(benchCase: BenchCase, { page }: Entrant): Promise<CaseRun> {
  await page.bringToFront();
  await timePassed(SETTLING_MS);
  if (!benchCase.isSlow) await runIn(page, cutShort(benchCase), 0);
  return runIn(page, benchCase.requests, SUSTAINED_MS);
}

function cutShort({ requests }: BenchCase): BenchCase['requests'] {
  return requests.map((request) => ({
    ...request,
    maxNewTokens: Math.min(request.maxNewTokens, WARM_UP_TOKENS),
  }));
}

function runIn(page: Page, requests: BenchCase['requests'], leastMs: number): Promise<CaseRun> {
  return page.evaluate(([timed, ms]) => window.benchPeers.run(timed, ms), [requests, leastMs] as const);
}

function logProgress(round: number, { label }: BenchCase, { name }: Entrant, run: CaseRun): void {
  const seconds = (wallMsOf(run) / 1000).toFixed(2);
  console.log(`round ${round}: ${label}: ${CONTENDERS[name]}: ${numTokensOf(run)} tokens in ${seconds} s`);
}

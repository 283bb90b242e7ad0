import type { Browser, Page } from 'playwright';

import { CASES, type BenchCase } from './cases.ts';
import { CONTENDERS, type BackendName, type ContenderName } from './contender.ts';
import type { CaseRun } from './page/run-case.ts';
import { numTokensOf } from './summarize.ts';

/** A contender, loaded in a page of its own. */
export interface Entrant {
  readonly name: ContenderName;
  readonly page: Page;
  readonly runsOn: string;
}

/** What one contender did in one case, round by round. */
export interface Measured {
  readonly benchCase: BenchCase;
  readonly entrant: Entrant;
  readonly runs: readonly CaseRun[];
}

/** Shaders are compiled when their shape first occurs, WebAssembly again and better while it runs: both come before. */
const WARM_UP_MS = 3000;
const WARM_UP_TOKENS = 8;

export async function loadEntrants(
  browser: Browser,
  url: string,
  backend: BackendName,
): Promise<readonly Entrant[]> {
  const entrants: Entrant[] = [];
  for (const name of contenderNames()) {
    const page = await browser.newPage();
    page.on('pageerror', (error) => console.error(`${CONTENDERS[name]}: ${error.message}`));
    await page.goto(url);
    await page.waitForFunction(() => 'benchPeers' in window);
    const runsOn = await page.evaluate(([chosen, on]) => window.benchPeers.load(chosen, on), [
      name,
      backend,
    ] as const);
    entrants.push({ name, page, runsOn });
  }
  return entrants;
}

/** Round by round, each starting with another contender, so that what disturbs the machine disturbs them alike. */
export async function measureAll(
  entrants: readonly Entrant[],
  numRounds: number,
): Promise<readonly Measured[]> {
  const measured = CASES.flatMap((benchCase) =>
    entrants
      .filter(({ name }) => !benchCase.cannot[name])
      .map((entrant) => ({ benchCase, entrant, runs: [] as CaseRun[] })),
  );
  for (const { benchCase, entrant } of measured) await warmUp(benchCase, entrant);
  for (let round = 0; round < numRounds; round++) {
    const turn = (round * entrants.length) % measured.length;
    for (const { benchCase, entrant, runs } of [...measured.slice(turn), ...measured.slice(0, turn)]) {
      const run = await measure(benchCase, entrant);
      runs.push(run);
      logProgress(round + 1, benchCase, entrant, run);
    }
  }
  return measured;
}

/** The same requests, cut short and repeated. */
async function warmUp(benchCase: BenchCase, entrant: Entrant): Promise<void> {
  const requests = benchCase.requests.map((request) => ({
    ...request,
    maxNewTokens: Math.min(request.maxNewTokens, WARM_UP_TOKENS),
  }));
  const startedAtMs = performance.now();
  do await measure({ ...benchCase, requests }, entrant);
  while (performance.now() - startedAtMs < WARM_UP_MS);
}

function measure({ requests }: BenchCase, { page }: Entrant): Promise<CaseRun> {
  return page.evaluate((timed) => window.benchPeers.run(timed), requests);
}

function logProgress(round: number, { label }: BenchCase, { name }: Entrant, run: CaseRun): void {
  const seconds = (run.wallMs / 1000).toFixed(2);
  console.log(`round ${round}: ${label}: ${CONTENDERS[name]}: ${numTokensOf(run)} tokens in ${seconds} s`);
}

function contenderNames(): ContenderName[] {
  return Object.keys(CONTENDERS).filter((name): name is ContenderName => name in CONTENDERS);
}

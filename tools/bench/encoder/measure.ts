import type { BrowserContext, Page } from 'playwright';

import { spreadOf, sum } from '../statistics.ts';
import { listsOf, OWN_WAY, WAYS, type EncoderDtype, type EncoderRun, type Way } from './contender.ts';
import type { DtypeResult, WayResult } from './results.ts';

/** Lets the browser optimize WebAssembly. */
const NUM_WARM_UP_TEXTS = 64;

export interface Plan {
  /** Address of the libraries' page. */
  readonly url: string;
  readonly texts: readonly string[];
  readonly numRounds: number;
}

/** A way, with its library loaded in a tab. */
interface Entrant {
  readonly way: Way;
  readonly page: Page;
  readonly runsOn: string;
  readonly wallMs: number[];
  run?: EncoderRun;
  failure?: string;
}

/** Vectors and token counts of Tabserve's list in fp32. */
export type Own = Required<Pick<EncoderRun, 'vectors' | 'numTokens'>>;

/** Measures in rounds that each start with another way, so that disturbances of the machine affect all alike. */
export async function measureDtype(
  context: BrowserContext,
  dtype: EncoderDtype,
  plan: Plan,
  exact: Own | undefined,
): Promise<{ readonly result: DtypeResult; readonly own: Own }> {
  const entrants = await loadEntrants(context, dtype, plan);
  for (let round = 0; round < plan.numRounds; round++) {
    const turn = round % entrants.length;
    for (const entrant of [...entrants.slice(turn), ...entrants.slice(0, turn)]) {
      await measure(entrant, plan.texts);
      const { way, wallMs, failure } = entrant;
      const outcome = failure ?? `${((wallMs[round] ?? NaN) / 1000).toFixed(2)} s`;
      console.log(`round ${round + 1}: ${dtype}: ${way.label}: ${outcome}`);
    }
  }
  const own = entrants.find(({ way }) => way === OWN_WAY);
  if (!own?.run?.numTokens) throw new Error('Tabserve has told no numbers of tokens');
  const { vectors, numTokens } = own.run;
  const reference = exact ?? { vectors, numTokens };
  const ways = entrants.map((entrant) => resultOf(entrant, own, reference));
  for (const page of new Set(entrants.map((entrant) => entrant.page))) await page.close();
  return { result: { dtype, ways }, own: reference };
}

async function loadEntrants(
  context: BrowserContext,
  dtype: EncoderDtype,
  { url, texts }: Plan,
): Promise<readonly Entrant[]> {
  const entrants: Entrant[] = [];
  for (const way of WAYS) {
    const { library, label } = way;
    // A list that doesn't fit may break its page's runtime. Tabserve's tabs would share a worker, in the background of one.
    const loaded = entrants.find((entrant) => library === 'tabserve' && entrant.way.library === library);
    const page = loaded?.page ?? (await context.newPage());
    if (!loaded) {
      page.on('pageerror', (error) => console.error(`${label}: ${error.message}`));
      await page.goto(url);
      await page.waitForFunction(() => 'benchEncoder' in window);
    }
    const load = [library, dtype] as const;
    const runsOn =
      loaded?.runsOn ?? (await page.evaluate((chosen) => window.benchEncoder.load(...chosen), load));
    await embed(page, texts.slice(0, NUM_WARM_UP_TEXTS), way);
    entrants.push({ way, page, runsOn, wallMs: [] });
  }
  return entrants;
}

/** A peer that fails is left out from then on. */
async function measure(entrant: Entrant, texts: readonly string[]): Promise<void> {
  const { way, page, wallMs } = entrant;
  if (entrant.failure !== undefined) return;
  try {
    await page.bringToFront();
    const run = await embed(page, texts, way);
    wallMs.push(run.wallMs);
    entrant.run ??= run;
  } catch (error) {
    if (way.library === 'tabserve') throw error;
    entrant.failure = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  }
}

function embed(page: Page, texts: readonly string[], way: Way): Promise<EncoderRun> {
  return page.evaluate(([given, chosen]) => window.benchEncoder.embed(given, chosen), [texts, way] as const);
}

function resultOf({ way, runsOn, failure, run, wallMs }: Entrant, own: Entrant, exact: Own): WayResult {
  const { label } = way;
  const padding = { paddingShare: run?.paddingShare ?? paddingOfLists(exact.numTokens, way) };
  if (failure !== undefined || !run) return { label, runsOn, failure: failure ?? '', ...padding };
  const perSecond = wallMs.map((ms) => (1000 * exact.numTokens.length) / ms);
  return {
    label,
    runsOn,
    textsPerSecond: spreadOf(perSecond),
    timeOverOwn: spreadOf(wallMs.map((ms, round) => ms / (own.wallMs[round] ?? NaN))).median,
    ...padding,
    smallestCosine: Math.min(...run.vectors.map((vector, at) => cosineOf(vector, exact.vectors[at] ?? []))),
  };
}

/** Lists are padded to their longest text. */
function paddingOfLists(numTokens: readonly number[], way: Way): number {
  const padded = listsOf(numTokens, way).map((list) => list.length * Math.max(...list));
  return 1 - sum(numTokens) / sum(padded);
}

function cosineOf(one: readonly number[], other: readonly number[]): number {
  const product = sum(one.map((value, at) => value * (other[at] ?? NaN)));
  return product / (Math.hypot(...one) * Math.hypot(...other));
}

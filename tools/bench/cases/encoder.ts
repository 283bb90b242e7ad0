import type { BrowserContext, Page } from 'playwright';

import reference from '../../reference/fixtures/minilm-reference.json' with { type: 'json' };
import { cosineSimilarity } from '../../../src/client/vectors.ts';
import { startServer } from '../../../bridge/server.ts';
import type { BenchCase, Group, Samples, Subject } from '../bench-case.ts';
import { buildLibraries, LIBRARIES_POLICY, LIBRARIES_ROOT } from '../libraries/build-libraries.ts';
import {
  listsOf,
  OWN_WAY,
  WAYS,
  type EncoderDtype,
  type EncoderRun,
  type Way,
} from '../libraries/encoder.ts';
import { describeLibraries } from '../libraries/describe-libraries.ts';
import { MODEL_WRITERS } from '../libraries/write-models.ts';
import { launchTabs } from '../launch.ts';
import type { Column } from '../record.ts';
import { sum } from '../statistics.ts';

const COLUMNS: readonly Column[] = [
  { name: 'texts/s', digits: 1, shows: 'p50' },
  { name: 'padding', unit: '%', digits: 0, shows: 'mean' },
  { name: 'smallest cosine', digits: 7, shows: 'min' },
];

/** Lets the browser optimize WebAssembly. */
const NUM_WARM_UP_TEXTS = 64;

/** Of Tabserve's list in fp32. */
type Exact = Required<Pick<EncoderRun, 'vectors' | 'numTokens'>>;

export const bench: BenchCase = {
  summary: 'texts per second of all-MiniLM-L6-v2, one by one and in lists, beside transformers.js',
  rounds: 2,
  async run({ isShort, browserArgs }, measure) {
    await buildLibraries();
    await MODEL_WRITERS.minilm();
    const texts = sentences(isShort ? 32 : 1000);
    const site = { host: 'localhost', port: 0, root: LIBRARIES_ROOT, policy: LIBRARIES_POLICY };
    await using server = await startServer(site);
    const { context, version, ...launched } = await launchTabs(browserArgs);
    await using _ = launched.browser;
    const open = (library: Way['library'], dtype: EncoderDtype) =>
      openTab(context, server.url, library, dtype);
    const fp32 = await open('tabserve', 'fp32');
    const { vectors, numTokens = [] } = await fp32.embed(texts, OWN_WAY);
    const exact = { vectors, numTokens };
    const q8 = await open('tabserve', 'q8');
    const groups = [
      await groupOf('fp32', fp32, () => open('transformers', 'fp32'), texts, exact),
      await groupOf('q8', q8, () => open('transformers', 'q8'), texts, exact),
    ];
    await measure({
      key: 'minilm wasm',
      browser: version,
      model: 'all-MiniLM-L6-v2',
      adapter: 'wasm',
      versions: describeLibraries(),
      note: `${texts.length} texts of ${Math.min(...numTokens)} to ${Math.max(...numTokens)} tokens.`,
      groups,
    });
  },
};

/** Each way of another library has a tab of its own: a list that doesn't fit may break its page's runtime. */
async function groupOf(
  dtype: EncoderDtype,
  own: Tab,
  open: () => Promise<Tab>,
  texts: readonly string[],
  exact: Exact,
): Promise<Group> {
  const subjects: Subject[] = [];
  for (const way of WAYS) {
    const { page, runsOn, embed } = way.library === 'tabserve' ? own : await open();
    subjects.push({
      labels: [way.label, runsOn],
      ...(way.library !== 'tabserve' && { mayFail: true }),
      warmUp: () => embed(texts.slice(0, NUM_WARM_UP_TEXTS), way),
      async measure() {
        await page.bringToFront();
        return samplesOf(await embed(texts, way), way, exact);
      },
    });
  }
  return {
    caption: dtype,
    labels: ['', 'runs on'],
    columns: COLUMNS,
    ratio: { header: 'its time over Tabserve’s list', column: 'texts/s', isBaseOver: true },
    subjects,
  };
}

interface Tab {
  readonly page: Page;
  readonly runsOn: string;
  readonly embed: (texts: readonly string[], way: Way) => Promise<EncoderRun>;
}

async function openTab(
  context: BrowserContext,
  url: string,
  library: Way['library'],
  dtype: EncoderDtype,
): Promise<Tab> {
  const page = await context.newPage();
  page.on('pageerror', (error) => console.error(`${library}: ${error.message}`));
  await page.goto(url);
  await page.waitForFunction(() => 'benchEncoder' in window);
  const load = [library, dtype] as const;
  const runsOn = await page.evaluate((chosen) => window.benchEncoder.load(...chosen), load);
  const embed: Tab['embed'] = (texts, way) =>
    page.evaluate(([given, chosen]) => window.benchEncoder.embed(given, chosen), [texts, way] as const);
  return { page, runsOn, embed };
}

function samplesOf({ wallMs, vectors, paddingShare }: EncoderRun, way: Way, exact: Exact): Samples {
  return {
    'texts/s': (1000 * vectors.length) / wallMs,
    padding: paddingShare ?? paddingOfLists(exact.numTokens, way),
    'smallest cosine': vectors.map((vector, at) => cosineSimilarity(vector, exact.vectors[at] ?? [])),
  };
}

/** Lists are padded to their longest text. */
function paddingOfLists(numTokens: readonly number[], way: Way): number {
  const padded = listsOf(numTokens, way).map((list) => list.length * Math.max(...list));
  return 1 - sum(numTokens) / sum(padded);
}

const WORDS = reference.texts.flatMap((text) => text.split(' '));

/** Spreads numbers evenly, however many there are. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;
const FEWEST_WORDS = 2;
const MOST_WORDS = 24;

/** Texts of mixed length in no order: most are short, as sentences are, and a few long. Always the same ones. */
function sentences(count: number): readonly string[] {
  let start = 0;
  return Array.from({ length: count }, (_, index) => {
    const share = ((index + 1) * GOLDEN_RATIO) % 1;
    const length = FEWEST_WORDS + Math.floor((MOST_WORDS - FEWEST_WORDS + 1) * share ** 3);
    const words = Array.from({ length }, (_word, at) => WORDS[(start + at) % WORDS.length]);
    start += length;
    return words.join(' ');
  });
}

import { writeFile } from 'node:fs/promises';

import { QUIET_ARGUMENTS } from '../../bridge/browser/launch-arguments.ts';
import { startServer } from '../../bridge/server.ts';
import { contentSecurityPolicy } from '../../bridge/static/content-security-policy.ts';
import type { BackendInfo, ClientUpdate, PolicyName, TabserveStats } from '../../src/client/index.ts';
import { SAMPLE_PROMPTS } from '../../src/ui/state/composer/sample-prompts.ts';
import { buildPage } from '../bench/built-pages.ts';
import { launchBrowser } from '../bench/launch.ts';
import { loadedOf, openReady } from '../bench/open-ready.ts';
import { pathOf } from '../paths.ts';

// Records the run that the page shows before the first press: what a tab hears while its nine prompts run, as an untouched page sends them.

const FILE = 'src/ui/panels/recording/recorded-run.json';
/** The seed of the first text; the others have the next ones. Here the third text ends early, so that the ninth joins in the middle. */
const SEED = 40;

/** Each way runs this often, and its shortest run counts: other work on the machine only adds to it. */
const NUM_ROUNDS = 15;

interface Recorded {
  readonly events: readonly object[];
  readonly steps: readonly object[];
  readonly tookMs: number;
}

/** Runs in the page. Time begins when the prompts are sent. */
async function record([prompts, policy, seed]: readonly [
  readonly string[],
  PolicyName,
  number,
]): Promise<Recorded> {
  const override = await window.tabserve.overridePolicy({ policy });
  const startedAtMs = performance.now();
  const receivedAtMs = (): number => performance.now() - startedAtMs;
  const events: object[] = [];
  const all: TabserveStats[] = [];
  const releases = [
    window.tabserve.subscribe('requests', (updates: readonly ClientUpdate[]) =>
      events.push({ type: 'requests', updates, receivedAtMs: receivedAtMs() }),
    ),
    window.tabserve.subscribe('stats', (stats) => {
      all.push(stats);
      events.push({ type: 'stats', stats, receivedAtMs: receivedAtMs() });
    }),
  ];
  const generator = window.tabserve.getHandle('text-generator');
  const responses = prompts.map((prompt, index) => generator.remote(prompt, { seed: seed + index }));
  await Promise.all(responses.map((response) => response.result()));
  while ((all.at(-1)?.numRunning ?? 1) > 0) await new Promise((resolve) => setTimeout(resolve, 50));
  for (const release of releases) release();
  await override.release();
  const spans = all.flatMap(({ sentAtMs, slotSpans }) =>
    slotSpans.map(({ startedAgoMs, queueWaitMs, endedAgoMs = 0 }) => ({
      fromMs: sentAtMs - startedAgoMs - queueWaitMs,
      toMs: sentAtMs - endedAgoMs,
    })),
  );
  const tookMs = Math.max(...spans.map(({ toMs }) => toMs)) - Math.min(...spans.map(({ fromMs }) => fromMs));
  return { events, steps: all.flatMap((stats) => stats.steps), tookMs };
}

/** “CPU, 2 threads”: how the CPU computes tells only those who know it. */
function machineOf({ adapter }: BackendInfo): string {
  const parts = adapter.split(', ');
  return [parts.at(0), parts.at(-1)].join(', ');
}

function shortestOf(runs: readonly Recorded[]): Recorded {
  const [shortest] = runs.toSorted((one, other) => one.tookMs - other.tookMs);
  if (!shortest) throw new Error('Nothing was recorded.');
  return shortest;
}

/** The chunks before a result have its text. */
const withoutText = (result: unknown): object =>
  Object.fromEntries(
    Object.entries(Object(result)).filter(
      ([key]) => !['choices', 'text', 'generatedText', 'tokenIds'].includes(key),
    ),
  );

/** One chunk for each text: what came at once is shown at once. */
function joined(updates: readonly ClientUpdate[]): readonly object[] {
  return updates.flatMap((update): readonly object[] => {
    if (update.type !== 'chunk') return [update];
    const own = updates.flatMap((each) =>
      each.type === 'chunk' && each.requestId === update.requestId ? [each] : [],
    );
    if (own[0] !== update) return [];
    const text = own.map((each) => each.text).join('');
    return [{ ...update, text, tokenIds: own.flatMap(({ tokenIds }) => tokenIds) }];
  });
}

await using site = await startServer({
  host: 'localhost',
  port: 0,
  root: await buildPage(),
  policy: contentSecurityPolicy([]),
});
const launched = await launchBrowser(QUIET_ARGUMENTS);
await using browser = launched.browser;
await using context = await browser.newContext();
const { page, status } = await openReady(context, `${site.url}/?backend=wasm`);
const { backend, model } = loadedOf(status);
const [alone, together] = [new Array<Recorded>(), new Array<Recorded>()];
for (let round = 0; round < NUM_ROUNDS; round += 1) {
  alone.push(await page.evaluate(record, [SAMPLE_PROMPTS, 'off', SEED] as const));
  together.push(await page.evaluate(record, [SAMPLE_PROMPTS, 'continuous', SEED] as const));
}
const [oneAtATime, shown] = [shortestOf(alone), shortestOf(together)];
const ids = new Map<string, string>();
const text = JSON.stringify(
  {
    modelId: model.id,
    machine: machineOf(backend),
    oneAtATimeMs: oneAtATime.tookMs,
    stepFields: Object.keys(shown.steps[0] ?? {}),
    events: shown.events,
  },
  (key: string, value: unknown) => {
    if (key === 'steps' && Array.isArray(value)) return value.map((step: object) => Object.values(step));
    if (key === 'result') return withoutText(value);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the client has told them
    if (key === 'updates') return joined(value as readonly ClientUpdate[]);
    if (typeof value === 'number') return Number(value.toFixed(2));
    if (key !== 'requestId' || typeof value !== 'string') return value;
    if (!ids.has(value)) ids.set(value, `recorded ${ids.size + 1}`);
    return ids.get(value);
  },
);
await writeFile(pathOf(FILE), `${text}\n`);
console.log(
  `${FILE}: ${(text.length / 1000).toFixed(0)} KB, ${shown.tookMs.toFixed(0)} ms, one at a time ${oneAtATime.tookMs.toFixed(0)} ms`,
);

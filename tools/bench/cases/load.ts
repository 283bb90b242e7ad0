import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { startServer } from '../../../bridge/server.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import type { Dtype, ModelLoad } from '../../../src/protocol/models.ts';
import type { BenchCase, Group, Samples } from '../bench-case.ts';
import { besideEachOther, builtPages, type BuiltPage } from '../built-pages.ts';
import { launchProfile } from '../launch.ts';
import { openReady } from '../open-ready.ts';
import { peakBytes, rendererCpuMs } from '../process-memory.ts';
import type { Column } from '../record.ts';
import { FORMATS, startPacedHub, type Format, type PacedHub } from './paced-hub.ts';

const MEGABYTES_PER_SECOND = 25;
const DTYPES: readonly Dtype[] = ['fp32', 'q8'];

/** Phases that a load reports, and take time. */
const PHASES: readonly ModelLoad['phase'][] = ['resolve', 'download', 'prepare', 'compile'];

const COLUMNS: readonly Column[] = [
  ...['whole load', ...PHASES, 'after the last byte', 'second start'].map((name): Column => ({
    name,
    unit: 's',
    digits: 2,
    shows: 'p50',
  })),
  { name: 'CPU time', unit: 's', digits: 2, shows: 'p50' },
  { name: 'peak memory', unit: 'MB', digits: 0, shows: 'p50' },
];

export const bench: BenchCase = {
  summary: "the phases of a model's load, and its next start",
  rounds: 3,
  hasVersions: true,
  async run({ isShort, beside, browserArgs }, measure) {
    const pages = await builtPages(beside);
    const { version } = await findBrowser();
    await using stack = new AsyncDisposableStack();
    const hubs = new Map<Format, PacedHub>();
    const speed = isShort ? Infinity : 1e6 * MEGABYTES_PER_SECOND;
    for (const format of FORMATS) hubs.set(format, stack.use(await startPacedHub(format, speed)));
    const groupOf = (page: BuiltPage): Group => ({
      caption: 'A load into an empty profile on disk, and opening the page again',
      labels: ['weights', 'precision'],
      columns: COLUMNS,
      subjects: [...hubs].flatMap(([format, hub]) =>
        DTYPES.map((dtype) => ({
          labels: [`${format}, ${(hub.size / 1e6).toFixed(0)} MB`, dtype],
          measure: () => measureLoad(page.root, hub, dtype, browserArgs),
        })),
      ),
    });
    await measure({
      key: 'wasm',
      browser: version,
      model: '135 M parameters',
      adapter: 'the CPU',
      note: `The hub sends ${MEGABYTES_PER_SECOND} MB/s.`,
      groups: besideEachOther(pages.map((page) => ({ name: page.name, groups: [groupOf(page)] }))),
    });
  },
};

async function measureLoad(
  root: string,
  hub: PacedHub,
  dtype: Dtype,
  browserArgs: readonly string[],
): Promise<Samples> {
  const policy = contentSecurityPolicy([hub.url]);
  await using server = await startServer({ host: 'localhost', port: 0, root, policy });
  const url = `${server.url}/?backend=wasm`;
  const { browser, ...launched } = await launchProfile(browserArgs);
  await using context = launched.context;
  const { page } = await openReady(context, url);
  const cpuBeforeMs = await rendererCpuMs(browser);
  const [startedAtMs, sent] = [performance.now(), hub.whenSent().then(() => performance.now())];
  const phases = await page.evaluate(timeLoadInPage, [hub.id, hub.url, dtype] as const);
  const endedAtMs = performance.now();
  const cpuMs = (await rendererCpuMs(browser)) - cpuBeforeMs;
  const peak = await peakBytes(browser, 'renderer');
  await page.close();
  const openedAtMs = performance.now();
  await openReady(context, url);
  return {
    ...phases,
    'whole load': endedAtMs - startedAtMs,
    'after the last byte': endedAtMs - (await sent),
    'second start': performance.now() - openedAtMs,
    'CPU time': cpuMs,
    'peak memory': Math.max(...peak),
  };
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. Returns the ms of each phase. */
async function timeLoadInPage([id, hub, dtype]: readonly [string, string, Dtype]) {
  const phases: Record<string, number> = {};
  let [phase, sinceMs] = ['', performance.now()];
  const end = (): void => {
    phases[phase] = (phases[phase] ?? 0) + performance.now() - sinceMs;
    sinceMs = performance.now();
  };
  await window.tabserve.loadModel(id, {
    hub,
    dtype,
    onProgress(progress) {
      if (progress.phase === phase) return;
      end();
      phase = progress.phase;
    },
  });
  end();
  return phases;
}

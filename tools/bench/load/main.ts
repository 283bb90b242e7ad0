import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright';

import { findBrowser } from '../../../bridge/browser/find-browser.ts';
import { startServer } from '../../../bridge/server.ts';
import { contentSecurityPolicy } from '../../../bridge/static/content-security-policy.ts';
import { defineBench } from '../bench.ts';
import { buildPage } from '../build-page.ts';
import { parseCount, parseList } from '../command-line.ts';
import { conditionsOf } from '../conditions.ts';
import { openReady } from '../open-ready.ts';
import { sum } from '../statistics.ts';
import { peakRendererMemory, rendererCpuMs } from '../peak-memory.ts';
import { timeLoadInPage } from './in-page.ts';
import { FORMATS, startPacedHub, type Format, type PacedHub } from './paced-hub.ts';
import { formatLoads } from './report.ts';
import { recordLoads, summarizeLoads, type Duration, type LoadSample, type LoadsRun } from './results.ts';

interface LoadOptions {
  readonly rounds: number;
  readonly megabytesPerSecond: number;
  readonly formats: readonly Format[];
  /** Built pages; empty for that of this checkout, which is built. */
  readonly pages: readonly BuiltPage[];
}

interface BuiltPage {
  readonly name: string;
  readonly folder: string;
}

const USAGE = `\
  --rounds N      times that each load is measured (default 3)
  --mbps N        megabytes per second that the hub sends (default 25)
  --formats LIST  safetensors, gguf or both (default)
  --pages LIST    built pages to compare, as in before=DIR,after=DIR (default: builds this checkout's)`;

export const bench = defineBench(USAGE, parseOptions, measureAndRecord);

function parseOptions(args: readonly string[]): LoadOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rounds: { type: 'string', default: '3' },
      mbps: { type: 'string', default: '25' },
      formats: { type: 'string' },
      pages: { type: 'string' },
    },
  });
  return {
    rounds: parseCount('--rounds', values.rounds),
    megabytesPerSecond: parseCount('--mbps', values.mbps),
    formats: parseList('--formats', values.formats, FORMATS, (format) => format),
    pages: values.pages?.split(',').map(parsePage) ?? [],
  };
}

function parsePage(text: string): BuiltPage {
  const [name, folder] = text.split('=');
  if (name && folder) return { name, folder: resolve(folder) };
  throw new Error(`Expected \`--pages\` to list NAME=DIR, got \`${text}\` (string)`);
}

async function measureAndRecord(options: LoadOptions): Promise<void> {
  const { rounds, megabytesPerSecond, formats } = options;
  const pages =
    options.pages.length > 0 ? options.pages : [{ name: 'this version', folder: await buildPage() }];
  const { version } = await findBrowser();
  const command = `load --rounds ${rounds} --mbps ${megabytesPerSecond}`;
  const conditions = conditionsOf(command, version);
  const loads: LoadsRun['loads'][number][] = [];
  for (const format of formats) {
    const hub = await startPacedHub(format, 1e6 * megabytesPerSecond);
    const samples = pages.map(({ name }) => ({ page: name, samples: [] as LoadSample[] }));
    for (let round = 1; round <= rounds; round++) {
      for (const [i, { name, folder }] of pages.entries()) {
        const sample = await measureLoad(folder, hub);
        samples[i]?.samples.push(sample);
        console.log(`round ${round}: ${format}, ${name}: ${JSON.stringify(sample)}`);
      }
    }
    await hub.close();
    loads.push(...samples.map((all) => ({ format, numBytes: hub.size, ...summarizeLoads(all) })));
  }
  const run: LoadsRun = { ...conditions, settings: { rounds, megabytesPerSecond }, loads };
  console.log(`\n${formatLoads(run)}\n\nRecorded in ${await recordLoads(run)}`);
}

/** Loads the model in a new profile, and opens the page again. An incognito window would keep its storage in memory. */
async function measureLoad(root: string, hub: PacedHub): Promise<LoadSample> {
  const profile = await mkdtemp(join(tmpdir(), 'tabserve-load-'));
  const server = await startServer({
    host: 'localhost',
    port: 0,
    root,
    policy: contentSecurityPolicy([hub.url]),
  });
  const { path: executablePath } = await findBrowser();
  const context = await chromium.launchPersistentContext(profile, { executablePath });
  try {
    const url = `${server.url}/?backend=wasm`;
    const { page } = await openReady(context, url);
    const whole = startWatch(profile);
    const tail = hub.whenSent().then(() => startWatch(profile));
    const { phases } = await page.evaluate(timeLoadInPage, [hub.id, hub.url] as const);
    const load = { phases, whole: whole(), afterLastByte: (await tail)() };
    const peakBytes = peakRendererMemory(profile);
    await page.close();
    const start = startWatch(profile);
    await openReady(context, url);
    return { ...load, secondStart: start(), peakBytes };
  } finally {
    await context.close();
    await server.close();
    await rm(profile, { recursive: true, force: true });
  }
}

/** Returns what tells the time since, on the clock and of the renderers' CPU. */
function startWatch(profile: string): () => Duration {
  const [startedAtMs, before] = [performance.now(), rendererCpuMs(profile)];
  return () => {
    const ms = performance.now() - startedAtMs;
    return {
      ms,
      cpuMs: sum(Array.from(rendererCpuMs(profile), ([id, cpuMs]) => cpuMs - (before.get(id) ?? 0))),
    };
  };
}

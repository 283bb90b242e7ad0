import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { defineBench } from '../bench.ts';
import { conditionsOf } from '../conditions.ts';
import { pathOf } from '../paths.ts';
import { withBrowser, type SiteOptions } from '../with-browser.ts';
import { buildLibraries, LIBRARIES_POLICY } from '../peers/build-page.ts';
import { describeLibraries, installPeers } from '../peers/install-peers.ts';
import { WEBGPU_ARGUMENTS } from '../../../bridge/browser/launch-arguments.ts';
import type { Adapter } from './contender.ts';
import { curvesOf } from './curve.ts';
import { openPage } from './entrant.ts';
import { measureModel, prepareFiles, type ModelPlan } from './measure-model.ts';
import { parseOptions, USAGE, type GpuOptions } from './options.ts';
import { gpuReportOf } from './report.ts';
import { GPU_RESULTS, recordGpuRuns, type GpuRun } from './results.ts';
import type { Shape } from './shapes.ts';
import { writeModel } from './write-models.ts';

const PAGE = fileURLToPath(new URL('page', import.meta.url));
const BUILT_PAGE = pathOf('dist-bench-gpu');
const CURVE_FILE = pathOf('docs/gpu-curve.svg');

export const bench = defineBench(USAGE, parseOptions, measureAndRecord);

/** Where the benchmark runs. */
interface Place {
  readonly site: SiteOptions;
  readonly adapter: Adapter;
  /** Name and version, as the browser reports them. */
  readonly browser: string;
}

async function measureAndRecord(chosen: GpuOptions): Promise<void> {
  if (chosen.browser !== undefined) process.env['CHROME_PATH'] = chosen.browser;
  if (!chosen.isBuilt) {
    await installPeers();
    await buildLibraries(PAGE, BUILT_PAGE);
  }
  const place = await findAdapter(chosen);
  const runs: GpuRun[] = [];
  for (const shape of chosen.shapes) {
    const fileNames = writeModel(join(BUILT_PAGE, 'models'), shape);
    for (const precision of chosen.precisions) {
      const run = await measure(place, chosen, { shape, fileNames, precision });
      console.log(`\n${gpuReportOf(run)}\n`);
      runs.push(run);
    }
    await removeModel(shape);
  }
  await record(chosen, place.adapter, runs);
  if (runs.some(isWrong)) {
    console.error(
      'Failed: a library could not be timed, or its tokens are wrong. The tables above say which.',
    );
    process.exitCode = 1;
  }
}

/** @throws Error if the browser offers no WebGPU adapter. */
async function findAdapter({ browserArgs }: GpuOptions): Promise<Place> {
  const args = [...WEBGPU_ARGUMENTS, ...browserArgs];
  const site = { root: BUILT_PAGE, policy: LIBRARIES_POLICY, args };
  return withBrowser(site, async ({ browser, url, version }) => {
    const page = await openPage(browser, url);
    const adapter = await page.evaluate(() => window.benchGpu.adapter());
    console.log(`Adapter: ${adapter.name}${adapter.isSoftware ? ', a software adapter' : ''}`);
    return { site, adapter, browser: version };
  });
}

async function measure(
  { site, adapter, browser }: Place,
  { isShort, matrix, rounds }: GpuOptions,
  what: Pick<ModelPlan, 'shape' | 'fileNames' | 'precision'>,
): Promise<GpuRun> {
  const conditions = {
    ...conditionsOf(process.argv.slice(2).join(' '), browser),
    adapter,
    libraries: describeLibraries(),
    model: what.shape.label,
    precision: what.precision,
    numRounds: rounds,
  };
  if (what.precision === 'fp16' && !adapter.hasShaderF16)
    return { ...conditions, obstacle: 'the adapter has no `shader-f16`', entrants: [], cells: [] };
  const plan: ModelPlan = { ...what, matrix, rounds, isCpuTimed: isShort };
  await prepareFiles(BUILT_PAGE, plan, adapter);
  // The server starts after the files are written: it lists them when it starts.
  const measured = await withBrowser(site, (opened) => measureModel(opened, plan, adapter));
  return { ...conditions, ...measured };
}

async function record({ isShort }: GpuOptions, adapter: Adapter, runs: readonly GpuRun[]): Promise<void> {
  if (isShort || adapter.isSoftware) {
    // Drawn anyway, so that a short run shows it when drawing is broken.
    await writeFile(join(BUILT_PAGE, 'gpu-curve.svg'), curvesOf(runs));
    console.log(`Not recorded: ${isShort ? 'this is a short run' : 'a software adapter is no GPU'}.`);
    return;
  }
  const results = await recordGpuRuns(runs);
  await writeFile(CURVE_FILE, curvesOf(results.runs));
  console.log(
    `Recorded in ${GPU_RESULTS.path} and ${CURVE_FILE}. \`npm run write -- readme\` writes the tables.`,
  );
}

/**
 * A failed case of another library, as for lack of memory, is a result. A failed case of ours or a library that fails altogether
 * is not.
 */
function isWrong({ obstacle, entrants, cells }: GpuRun): boolean {
  if (obstacle !== undefined) return false;
  const isExcluded = entrants.some(
    ({ agreement, excluded }) => excluded !== undefined && !agreement?.isRight,
  );
  return (
    isExcluded || cells.some(({ contender, failure }) => contender === 'tabserve' && failure !== undefined)
  );
}

async function removeModel({ id }: Shape): Promise<void> {
  for (const name of [id, `${id}-onnx`, `${id}.gguf`])
    await rm(join(BUILT_PAGE, 'models', name), { recursive: true, force: true });
}

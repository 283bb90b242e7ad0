import { markdownTable } from '../bench/markdown-table.ts';
import { reportOf } from '../bench/engine/report.ts';
import { RESULTS, type BenchRun, type ScenarioResult, type StepCostRun } from '../bench/engine/results.ts';
import { stepCostsReportOf } from '../bench/engine/step-costs/report.ts';
import { threadsReportOf } from '../bench/engine/threads/report.ts';
import { CONTENDERS } from '../bench/peers/contender.ts';
import { peersReportOf } from '../bench/peers/report.ts';
import { PEER_RESULTS, type PeerRun } from '../bench/peers/results.ts';
import { gpuSectionOf } from '../bench/gpu/report.ts';
import { GPU_RESULTS } from '../bench/gpu/results.ts';
import { formatLoads } from '../bench/load/report.ts';
import { LOAD_RESULTS } from '../bench/load/results.ts';
import { formatTabs } from '../bench/tabs/report.ts';
import { TABS_RESULTS } from '../bench/tabs/results.ts';
import { updateParts } from './marked-part.ts';

// The tables of docs/measurements.md and the headline figures of the README are those of bench/*.json. `--write` brings both
// up to date.

const { runs: recorded, stepCosts, threads } = await RESULTS.read();
const { webgpu, wasm } = recorded;
if (!wasm || !stepCosts || !threads) {
  throw new Error('A part is not recorded: run `npm run bench`, also with --backend webgpu.');
}
const benchRuns = webgpu ? [webgpu, wasm] : [wasm];
const tabs = Object.values((await TABS_RESULTS.read()).runs);
const { run: loads } = await LOAD_RESULTS.read();
// One backend alone may be recorded: a full run takes a quarter of an hour on an idle machine.
const peers = (await PEER_RESULTS.read()).runs;

await updateParts('docs/measurements.md', {
  bench: sections(benchRuns.map(reportOf)),
  steps: sections([stepCostsReportOf(stepCosts)]),
  threads: sections([threadsReportOf(threads)]),
  load: sections(loads ? [formatLoads(loads)] : []),
  tabs: sections(tabs.map(formatTabs)),
  peers: sections(Object.values(peers).map(peersReportOf)),
  gpu: sections([gpuSectionOf((await GPU_RESULTS.read()).runs)]),
});
await updateParts('README.md', {
  ratio: wasm.ratiosToOff.continuous.toFixed(1),
  headline: sections([headlineOf(benchRuns, peers.wasm), stepLineOf(stepCosts)]),
});

function sections(texts: readonly string[]): string {
  return `\n\n${texts.join('\n\n')}\n\n`;
}

/** Tokens per second of 8 requests, of Tabserve's policies and of other libraries. */
function headlineOf(runs: readonly BenchRun[], peerRun: PeerRun | undefined): string {
  const policies = runs.map((run) => [
    `Tabserve on ${placeOf(run)}`,
    rateOf(run, 'off'),
    rateOf(run, 'continuous'),
    `${run.ratiosToOff.continuous.toFixed(1)}×`,
  ]);
  const others = peerRun ? [beside(peerRun)] : [];
  return [
    ...markdownTable(['8 requests, tokens per second', 'one at a time', 'batched', 'gain'], policies),
    ...others.flatMap((line) => ['', line]),
  ].join('\n');
}

function placeOf({ backend: { name, adapter } }: BenchRun): string {
  return name === 'webgpu' ? `WebGPU, ${adapter}` : 'WASM, one CPU thread';
}

function rateOf({ scenarios }: BenchRun, policy: ScenarioResult['policy']): string {
  const scenario = scenarios.find(({ policy: name, numRequests }) => name === policy && numRequests === 8);
  if (!scenario) throw new Error(`No run of 8 requests under ${policy} is recorded: run \`npm run bench\`.`);
  return formatRate(scenario.tokensPerSecond.median);
}

/** The same weights, prompts and token counts in other libraries. */
function beside({ backend, cases }: PeerRun): string {
  const contenders = cases.find(({ name }) => name === 'eight')?.contenders ?? [];
  const rates = contenders.map(
    ({ name, tokensPerSecond }) => `${CONTENDERS[name]} ${formatRate(tokensPerSecond.median)}`,
  );
  return `The same 8 requests beside other libraries on ${backend.toUpperCase()}, tokens per second: ${rates.join('; ')}.`;
}

/** The worker's CPU time for 8 rows of each model. */
function stepLineOf({ costs }: StepCostRun): string {
  const parts = costs
    .filter(({ numRows }) => numRows === 8)
    .map(({ model, captured, plain }) => {
      const [ms, plainMs] = [captured.workerCpuMs.median.toFixed(1), plain.workerCpuMs.median.toFixed(1)];
      return `${ms} ms for ${model.id} (${plainMs} ms without capture)`;
    });
  return `A decode step of 8 rows takes the worker's thread this much CPU time on WebGPU: ${parts.join('; ')}.`;
}

function formatRate(tokensPerSecond: number): string {
  return Math.round(tokensPerSecond).toLocaleString('en');
}

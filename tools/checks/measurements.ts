import { machineText } from '../bench/conditions.ts';
import { markdownTable } from '../bench/markdown-table.ts';
import { reportOf } from '../bench/engine/report.ts';
import { realModelReportOf } from '../bench/engine/real-model/report.ts';
import { RESULTS } from '../bench/engine/results.ts';
import { stepCostsReportOf } from '../bench/engine/step-costs/report.ts';
import { threadsReportOf } from '../bench/engine/threads/report.ts';
import { encoderReportOf } from '../bench/encoder/report.ts';
import { ENCODER_RESULTS } from '../bench/encoder/results.ts';
import { hiddenReportOf } from '../bench/hidden/report.ts';
import type { CaseName } from '../bench/peers/cases.ts';
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

/** How the libraries are named, and who runs each: the best of them counts. */
const COMPARED: readonly (readonly [label: string, pattern: RegExp])[] = [
  ['Tabserve, fp32', /^tabserve$/],
  ['Tabserve, q8', /^tabserve-q8$/],
  ['transformers.js, fp32', /^pipeline-(?:one|list)$/],
  ['transformers.js, q8', /^pipeline-q8$/],
  ['wllama', /^wllama-/],
];

const { runs: recorded, stepCosts, threads, realModel } = await RESULTS.read();
const { webgpu, wasm } = recorded;
const { runs: tabs, hidden } = await TABS_RESULTS.read();
// One backend alone may be recorded: a full run takes a quarter of an hour on an idle machine.
const { runs: peers, smollm2 = {} } = await PEER_RESULTS.read();
if (!wasm || !stepCosts || !threads) {
  throw new Error('A part is not recorded: run `npm run bench`, also with --backend webgpu.');
}
const benchRuns = webgpu ? [webgpu, wasm] : [wasm];
const { run: loads } = await LOAD_RESULTS.read();
const { run: encoder } = await ENCODER_RESULTS.read();

await updateParts('docs/measurements.md', {
  'real-model': sections(realModel ? [realModelReportOf(realModel)] : []),
  'real-peers': sections(Object.values(smollm2).map(peersReportOf)),
  bench: sections(benchRuns.map(reportOf)),
  steps: sections([stepCostsReportOf(stepCosts)]),
  threads: sections([threadsReportOf(threads)]),
  load: sections(loads ? [formatLoads(loads)] : []),
  tabs: sections(Object.values(tabs).map(formatTabs)),
  hidden: sections(hidden ? [hiddenReportOf(hidden)] : []),
  peers: sections(Object.values(peers).map(peersReportOf)),
  encoder: sections(encoder ? [encoderReportOf(encoder)] : []),
  gpu: sections([gpuSectionOf((await GPU_RESULTS.read()).runs)]),
});
await updateParts('README.md', {
  ratio: wasm.ratiosToOff.continuous.toFixed(1),
  headline: sections(smollm2.wasm ? [headlineOf(smollm2.wasm)] : []),
});

function sections(texts: readonly string[]): string {
  return `\n\n${texts.join('\n\n') || 'Not recorded yet.'}\n\n`;
}

/** Tokens per second of the real model, of each library with what suits it best. */
function headlineOf(run: PeerRun): string {
  const rows = COMPARED.map(([label, pattern]) => {
    const [alone, eight] = [bestOf(run, 'alone', pattern), bestOf(run, 'eight', pattern)];
    // The types of wllama: the best one may depend on the number of requests.
    const types = new Set([alone, eight].flatMap(({ name }) => /^wllama-(.*)/.exec(name)?.[1] ?? []));
    return [[label, ...types].join(' '), formatRate(alone.rate), formatRate(eight.rate)];
  });
  const [label] = run.cases.flatMap((entry) => (entry.name === 'eight' ? [entry.label] : []));
  return [
    ...markdownTable(['tokens per second', '1 request', '8 at once'], rows),
    '',
    `SmolLM2-135M-Instruct on ${run.backend.toUpperCase()}, one CPU thread; ${label}. ${run.browser}; ${machineText(run)}.`,
  ].join('\n');
}

function bestOf({ cases }: PeerRun, name: CaseName, pattern: RegExp) {
  const contenders = cases.find((entry) => entry.name === name)?.contenders ?? [];
  const [best] = contenders
    .filter((contender) => pattern.test(contender.name))
    .map((contender) => ({ name: contender.name, rate: contender.tokensPerSecond.median }))
    .toSorted((a, b) => b.rate - a.rate);
  if (!best) throw new Error(`${name} has no ${pattern}: run \`npm run bench -- peers --model smollm2\`.`);
  return best;
}

function formatRate(tokensPerSecond: number): string {
  return tokensPerSecond.toFixed(1);
}

import { markdownTable } from '../bench/markdown-table.ts';
import type { Percentiles, Spread } from '../bench/results.ts';
import type { CaseResult, ContenderResult, PeerRun } from './results.ts';

const COLUMNS = [
  '',
  'runs on',
  'tokens/s',
  'wall p50 / p95',
  'TTFT p50 / p95',
  'latency p50 / p95',
  'Tabserve over it',
  'as PyTorch',
];

/** The run as Markdown, which a terminal shows as well: conditions, then a table for each case. */
export function peersReportOf(run: PeerRun): string {
  return [conditionsOf(run), ...run.cases.map(reportOfCase)].join('\n\n');
}

function conditionsOf(run: PeerRun): string {
  const { backend, model, browser, machine, loadAverage, numRounds, versions, command } = run;
  const others = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${model} on ${backend}; ${browser}; ${machine.cpu}, ${machine.numCores} cores, load ${loadAverage.toFixed(1)} before; `,
    `${others.join(', ')}. Greedy; interleaved rounds: ${numRounds}; each library in a page of its own. \`${command}\``,
  ].join('');
}

function reportOfCase({ label, contenders, excluded }: CaseResult): string {
  const rows = [
    ...contenders.map(cellsOf),
    ...excluded.map(({ name, reason }) => [name, `cannot: ${reason}`, ...COLUMNS.slice(2).map(() => '')]),
  ];
  return [`${label}:`, '', ...markdownTable(COLUMNS, rows)].join('\n');
}

function cellsOf(result: ContenderResult): string[] {
  return [
    result.name,
    result.runsOn,
    result.tokensPerSecond.median.toFixed(1),
    percentiles(result.wallMs),
    percentiles(result.ttftMs),
    percentiles(result.latencyMs),
    result.tabserveOverIt ? ratio(result.tabserveOverIt) : '',
    `${result.numAsReference} of ${result.numAnswers}`,
  ];
}

function percentiles({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(0)} / ${p95.toFixed(0)} ms`;
}

function ratio({ median, min, max }: Spread): string {
  return `${median.toFixed(2)}× (${min.toFixed(2)} to ${max.toFixed(2)})`;
}

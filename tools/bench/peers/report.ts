import { machineText } from '../conditions.ts';
import { markdownTable } from '../markdown-table.ts';
import type { Percentiles } from '../statistics.ts';
import { SUSTAINED_MS } from '../engine/scenarios.ts';
import { CONTENDERS } from './contender.ts';
import { describeLibrary } from './install-peers.ts';
import type { CaseResult, ContenderResult, PeerRun } from './results.ts';

const COLUMNS = [
  '',
  'runs on',
  'tokens/s',
  'prompt tokens/s',
  'wall p50 / p95',
  'TTFT p50 / p95',
  'latency p50 / p95',
  'bare client over it',
  'page over it',
  'as PyTorch',
];

/** The run as Markdown, which a terminal shows as well: conditions, then a table for each case. */
export function peersReportOf(run: PeerRun): string {
  return [conditionsOf(run), ...run.cases.map(reportOfCase)].join('\n\n');
}

function conditionsOf(run: PeerRun): string {
  const { backend, model, browser, numRounds, libraries, command } = run;
  return [
    `${model} on ${backend}; ${browser}; ${machineText(run)}; `,
    `${libraries.map(describeLibrary).join('; ')}. Greedy; interleaved rounds: ${numRounds}, each of at least ${SUSTAINED_MS / 1000} s of such requests back to back; ratios are of medians; `,
    `each library in a tab of its own, in front while it is measured. \`${command}\``,
  ].join('');
}

function reportOfCase({ label, contenders, excluded }: CaseResult): string {
  const cells = [
    ...contenders.map(cellsOf),
    ...excluded.map(({ name, reason }) => [
      CONTENDERS[name],
      `left out: ${reason}`,
      ...COLUMNS.slice(2).map(() => ''),
    ]),
  ];
  // Columns without a figure are left out, such as prompt tokens/s in a case of short prompts.
  const shown = COLUMNS.map((_, column) => column === 0 || cells.some((row) => row[column] !== ''));
  const pick = (row: readonly string[]): string[] => row.filter((_, column) => shown[column]);
  return [`${label}:`, '', ...markdownTable(pick(COLUMNS), cells.map(pick))].join('\n');
}

function cellsOf(result: ContenderResult): string[] {
  const { promptTokensPerSecond, over } = result;
  return [
    CONTENDERS[result.name],
    result.runsOn,
    result.tokensPerSecond.median.toFixed(1),
    promptTokensPerSecond ? promptTokensPerSecond.median.toFixed(0) : '',
    percentiles(result.wallMs),
    percentiles(result.ttftMs),
    percentiles(result.latencyMs),
    ratio(over.tabserve),
    ratio(over['tabserve-page']),
    `${result.numAsReference} of ${result.numAnswers}`,
  ];
}

function percentiles({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(0)} / ${p95.toFixed(0)} ms`;
}

function ratio(quotient: number | undefined): string {
  return quotient === undefined ? '' : `${quotient.toFixed(2)}×`;
}

import { machineText } from '../conditions.ts';
import { markdownTable } from '../markdown-table.ts';
import { describeLibrary } from '../peers/install-peers.ts';
import type { DtypeResult, EncoderBenchRun, WayResult } from './results.ts';

const COLUMNS = [
  '',
  'runs on',
  'texts/s, median (range)',
  'its time over Tabserve’s list',
  'padding',
  'smallest cosine',
];

/** The run as Markdown: conditions, then a table for each precision. */
export function encoderReportOf(run: EncoderBenchRun): string {
  return [conditionsOf(run), ...run.dtypes.map(reportOf)].join('\n\n');
}

function conditionsOf(run: EncoderBenchRun): string {
  const { numTexts, numTokens, browser, libraries, numRounds, command } = run;
  const { median, min, max } = numTokens;
  return [
    `all-MiniLM-L6-v2 on wasm; ${numTexts} texts of ${min} to ${max} tokens, ${median} in the median; ${browser}; ${machineText(run)}; `,
    `${libraries.map(describeLibrary).join('; ')}. Interleaved rounds: ${numRounds}; ratios are of runs of one round. \`${command}\``,
  ].join('');
}

function reportOf({ dtype, ways }: DtypeResult): string {
  return [`${dtype}:`, '', ...markdownTable(COLUMNS, ways.map(cellsOf))].join('\n');
}

function cellsOf({
  label,
  runsOn,
  failure,
  textsPerSecond: rate,
  timeOverOwn,
  paddingShare,
  smallestCosine,
}: WayResult): string[] {
  const padding = paddingShare === undefined ? '' : `${(100 * paddingShare).toFixed(0)} %`;
  return [
    label,
    runsOn,
    rate
      ? `${rate.median.toFixed(1)} (${rate.min.toFixed(1)} to ${rate.max.toFixed(1)})`
      : `failed: ${failure}`,
    timeOverOwn === undefined ? '' : `${timeOverOwn.toFixed(2)}×`,
    padding,
    smallestCosine === undefined ? '' : smallestCosine.toFixed(7),
  ];
}

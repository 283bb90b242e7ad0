import { machineText } from '../../conditions.ts';
import { markdownTable } from '../../markdown-table.ts';
import { millionParameters, percentiles } from '../report.ts';
import type { PrecisionResult, RealModelRun, RowsResult } from '../results.ts';

const COLUMNS = ['prompts', 'requests', 'tokens/s', 'TTFT p50 / p95', 'inter-token p50 / p95'];

/** The run as Markdown: conditions, then a table and the stall for each precision. */
export function realModelReportOf(run: RealModelRun): string {
  const { browser, backend, model, settings, command } = run;
  const conditions = [
    `${model.id} (${millionParameters(model)}, ${model.numLayers} layers) on ${backend.name}: ${backend.adapter}; `,
    `${browser}; ${machineText(run)}. All requests of a row at once, ${settings.maxNewTokens} new tokens each, `,
    `prefill included in tokens/s; medians of rounds: ${settings.rounds}. \`${command}\``,
  ].join('');
  return [conditions, ...run.precisions.map(precisionReportOf)].join('\n\n');
}

function precisionReportOf({ dtype, residentBytes, rows, stall }: PrecisionResult): string {
  const { longestGapMs, longestGapSteps, unlimitedGapMs, unlimitedGapSteps, throughputRatio } = stall;
  const memory = residentBytes > 0 ? `, ${(residentBytes / 1e6).toFixed(0)} MB of memory for the tab` : '';
  return [
    `${dtype}${memory}:`,
    '',
    ...markdownTable(COLUMNS, rows.map(cellsOf)),
    '',
    `Four prompts of 200 tokens arrive while a text runs: its longest pause is ${longestGapMs.median.toFixed(0)} ms, ` +
      `${longestGapSteps.median.toFixed(1)} decode steps; without a limit ${unlimitedGapMs.median.toFixed(0)} ms, ` +
      `${unlimitedGapSteps.median.toFixed(1)} steps. Tokens/s over those without a limit: ${throughputRatio.toFixed(2)}×.`,
  ].join('\n');
}

function cellsOf({ numPromptTokens, numRequests, tokensPerSecond, ttftMs, itlMs }: RowsResult): string[] {
  return [
    `${numPromptTokens} tokens`,
    String(numRequests),
    tokensPerSecond.median.toFixed(1),
    percentiles(ttftMs),
    percentiles(itlMs),
  ];
}

import { markdownTable } from './markdown-table.ts';
import type { BenchRun, Percentiles, ScenarioResult, Spread } from './results.ts';

const COLUMNS = ['policy', 'requests', 'tokens/s', 'decode step p50 / p95', 'TTFT p50 / p95', 'overhead'];

/** The run as Markdown, which a terminal shows as well: conditions, table, ratios. */
export function reportOf(run: BenchRun): string {
  const table = markdownTable(COLUMNS, run.scenarios.map(cellsOf));
  return [conditionsOf(run), '', ...table, '', ratiosOf(run)].join('\n');
}

function conditionsOf({ machine, browser, backend, model, settings, command }: BenchRun): string {
  const million = (model.numParameters / 1e6).toFixed(1);
  const kind = backend.isSoftwareAdapter ? ', a software adapter' : '';
  return [
    `${model.id} (${million} M parameters, ${model.numLayers} layers) on ${backend.name} ${backend.precision}: `,
    `${backend.adapter}${kind}; ${browser}; ${machine.cpu}, ${machine.numCores} cores. `,
    `Median of ${settings.rounds} interleaved rounds, ${settings.maxNewTokens} new tokens per request. \`${command}\``,
  ].join('');
}

function ratiosOf({ ratiosToOff }: BenchRun): string {
  const { static: fixed, continuous } = ratiosToOff;
  return `8 requests, tokens/s over those of \`off\`: continuous ${ratio(continuous)}, static ${ratio(fixed)}.`;
}

function ratio({ median, min, max }: Spread): string {
  return `${median.toFixed(1)}× (${min.toFixed(1)} to ${max.toFixed(1)})`;
}

function cellsOf(result: ScenarioResult): string[] {
  return [
    result.policy,
    String(result.numRequests),
    result.tokensPerSecond.median.toFixed(1),
    percentiles(result.decodeStepMs),
    percentiles(result.ttftMs),
    `${(100 * result.overheadShare).toFixed(1)} %`,
  ];
}

function percentiles({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(1)} / ${p95.toFixed(1)} ms`;
}

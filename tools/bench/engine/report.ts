import { markdownTable } from '../markdown-table.ts';
import { SUSTAINED_MS } from './scenarios.ts';
import type { Percentiles } from '../statistics.ts';
import type { BenchRun, ContextResult, ScenarioResult } from './results.ts';

const COLUMNS = ['policy', 'requests', 'tokens/s', 'decode step p50 / p95', 'TTFT p50 / p95', 'overhead'];

/** The run as Markdown, which a terminal shows as well: conditions, table, ratios. */
export function reportOf(run: BenchRun): string {
  const table = markdownTable(COLUMNS, run.scenarios.map(cellsOf));
  const contexts = markdownTable(CONTEXT_COLUMNS, run.contexts.map(contextCellsOf));
  return [conditionsOf(run), '', ...table, '', ratiosOf(run), '', ...contexts, '', ...standInOf(run)].join(
    '\n',
  );
}

function standInOf({ standIn: { model, scenarios, ratioToOff } }: BenchRun): string[] {
  const table = markdownTable(COLUMNS, scenarios.map(cellsOf));
  return [
    `The same on ${model.id} (${millionParameters(model)}, ${model.numLayers} layers, random weights): ` +
      `8 requests, tokens/s over those of \`off\`: continuous ${ratioToOff.toFixed(1)}×.`,
    '',
    ...table,
  ];
}

export function millionParameters({ numParameters }: BenchRun['model']): string {
  return `${(numParameters / 1e6).toFixed(1)} M parameters`;
}

const CONTEXT_COLUMNS = ['8 requests that grow to', 'tokens/s', 'decode step p50 / p95'];

function contextCellsOf({ contextLength, tokensPerSecond, decodeStepMs }: ContextResult): string[] {
  return [`${contextLength} tokens`, tokensPerSecond.median.toFixed(1), percentiles(decodeStepMs)];
}

function conditionsOf({ machine, browser, backend, model, settings, command }: BenchRun): string {
  const kind = backend.isSoftwareAdapter ? ', a software adapter' : '';
  return [
    `${model.id} (${millionParameters(model)}, ${model.numLayers} layers) on ${backend.name} ${backend.precision}: `,
    `${backend.adapter}${kind}; ${browser}; ${machine.cpu}, ${machine.numCores} cores. `,
    `Medians of ${settings.rounds} interleaved rounds of at least ${SUSTAINED_MS / 1000} s, in which each request is sent again when it has ended; `,
    `${settings.maxNewTokens} new tokens per request; ratios are of medians. \`${command}\``,
  ].join('');
}

function ratiosOf({ ratiosToOff }: BenchRun): string {
  const { static: fixed, continuous } = ratiosToOff;
  return `8 requests, tokens/s over those of \`off\`: continuous ${continuous.toFixed(1)}×, static ${fixed.toFixed(1)}×.`;
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

export function percentiles({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(1)} / ${p95.toFixed(1)} ms`;
}

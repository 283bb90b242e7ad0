import { markdownTable } from '../markdown-table.ts';
import type { Agreement } from './agreement.ts';
import { describeLibrary } from '../peers/install-peers.ts';
import { contenderNames, CONTENDERS, LIBRARY_OF, type ContenderName, type LibraryName } from './contender.ts';
import type { CellResult, EntrantResult, GpuRun } from './results.ts';

/** A run as Markdown that reads well in a terminal: conditions, libraries, then tables with a row for each number of requests. */
export function gpuReportOf(run: GpuRun): string {
  if (run.obstacle !== undefined) return `${titleOf(run)}: ${run.obstacle}.`;
  return [
    conditionsOf(run),
    markdownTable(
      ['', 'runs on', 'tokens as on the CPU', 'largest difference'],
      run.entrants.map(entrantCells),
    ).join('\n'),
    ...kindsOf(run).map(({ kind, length }) => tableOf(run, kind, length)),
  ].join('\n\n');
}

/** The section of docs/measurements.md: the runs on hardware, or that there are none. */
export function gpuSectionOf(runs: readonly GpuRun[]): string {
  const onHardware = runs.filter(({ adapter }) => !adapter.isSoftware);
  if (onHardware.length === 0) return 'Not measured on a GPU.';
  const picture = '![Tokens per second over the number of requests that decode together](gpu-curve.svg)';
  return [picture, ...onHardware.map(gpuReportOf)].join('\n\n');
}

function titleOf({ model, precision }: GpuRun): string {
  return `**${model}, ${precision}**`;
}

function conditionsOf(run: GpuRun): string {
  const { adapter, browser, machine, libraries, numRounds, startedAt, command } = run;
  const kind = adapter.isSoftware ? ', a software adapter' : '';
  return [
    `${titleOf(run)} with random weights on ${adapter.name}${kind}; ${browser}; ${machine.cpu}, ${machine.numCores} cores; `,
    `${startedAt.slice(0, 10)}; ${libraries.map(describeLibrary).join('; ')}. Medians of ${numRounds} interleaved rounds. \`${command}\``,
  ].join('');
}

function entrantCells({ library, runsOn, agreement, excluded }: EntrantResult): string[] {
  return [
    LIBRARY_LABELS[library],
    excluded === undefined ? runsOn : `${runsOn}; not timed: ${excluded}`,
    agreement ? `${agreement.numSame} of ${agreement.numTokens}${agreement.isRight ? '' : ': WRONG'}` : '',
    agreement ? differenceOf(agreement) : '',
  ];
}

const LIBRARY_LABELS: Readonly<Record<LibraryName, string>> = {
  tabserve: 'Tabserve',
  pipeline: 'transformers.js',
  wllama: 'wllama',
};

function differenceOf({ difference, tolerance }: Agreement): string {
  return difference === undefined ? '' : `${difference.toPrecision(1)} of ${tolerance}`;
}

function kindsOf({ cells }: GpuRun): readonly Pick<CellResult, 'kind' | 'length'>[] {
  const kinds = new Map(cells.map(({ kind, length }) => [`${kind} ${length}`, { kind, length }]));
  return [...kinds.values()].toSorted((a, b) => b.kind.localeCompare(a.kind) || a.length - b.length);
}

function tableOf({ cells, entrants }: GpuRun, kind: CellResult['kind'], length: number): string {
  const isTimed = (name: ContenderName): boolean =>
    entrants.some(({ library, excluded }) => library === LIBRARY_OF[name] && excluded === undefined);
  const names = contenderNames().filter(isTimed);
  const own = cells.filter((cell) => cell.kind === kind && cell.length === length);
  const rows = [...new Set(own.map((cell) => cell.rows))];
  const caption =
    kind === 'prefill'
      ? `Prompts of ${length} tokens: prompt tokens per second; time to the first token, p50 / p95`
      : `Texts that grow to ${length} tokens: tokens per second; time between tokens, p50 / p95`;
  const body = rows.map((count) => [
    String(count),
    ...names.map((name) => cellText(own.find((cell) => cell.rows === count && cell.contender === name))),
  ]);
  const table = markdownTable(['requests', ...names.map((name) => CONTENDERS[name])], body);
  return [`${caption}:`, '', ...table].join('\n');
}

function cellText(cell: CellResult | undefined): string {
  if (!cell) return '';
  const { tokensPerSecond, ms, failure } = cell;
  if (failure !== undefined || !tokensPerSecond || !ms) return `failed: ${failure}`;
  return `${formatRate(tokensPerSecond.median)}; ${formatMs(ms.p50)} / ${formatMs(ms.p95)} ms`;
}

function formatRate(rate: number): string {
  return rate.toLocaleString('en', { maximumFractionDigits: rate < 100 ? 1 : 0 });
}

function formatMs(ms: number): string {
  return ms.toFixed(ms < 10 ? 1 : 0);
}

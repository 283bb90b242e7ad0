import { markdownTable } from '../markdown-table.ts';
import type { Spread } from '../statistics.ts';
import type { LoadsRun } from './results.ts';

/** The run as Markdown: a table for each format, with a column for each page. */
export function formatLoads({ browser, machine, command, settings, loads }: LoadsRun): string {
  const formats = [...new Set(loads.map(({ format }) => format))];
  return [
    `135 M parameters on WASM in fp32; ${browser}; ${machine.cpu}, ${machine.numCores} cores. Medians of ${settings.rounds} interleaved rounds; the hub sends ${settings.megabytesPerSecond} MB/s. \`${command}\``,
    ...formats.map((format) => tableOf(loads.filter((load) => load.format === format))),
  ].join('\n\n');
}

function tableOf(loads: LoadsRun['loads']): string {
  const [first] = loads;
  const phases = [...new Set(loads.flatMap((load) => load.phases.map(({ phase }) => phase)))];
  const row = (name: string, spreadOf: (load: LoadsRun['loads'][number]) => Spread | undefined): string[] => [
    name,
    ...loads.map((load) => seconds(spreadOf(load))),
  ];
  return markdownTable(
    [`${first?.format}, ${megabytes(first?.numBytes ?? 0)}`, ...loads.map(({ page }) => page)],
    [
      ...phases.map((name) => row(name, (load) => load.phases.find(({ phase }) => phase === name)?.ms)),
      row('whole load', ({ totalMs }) => totalMs),
      row('after the last byte', ({ afterLastByteMs }) => afterLastByteMs),
      row('second start, page included', ({ secondStartMs }) => secondStartMs),
      ['peak memory of the renderer', ...loads.map(({ peakBytes }) => megabytes(peakBytes.median))],
    ],
  ).join('\n');
}

function seconds(spread: Spread | undefined): string {
  return spread ? `${(spread.median / 1000).toFixed(2)} s` : '';
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

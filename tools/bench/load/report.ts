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

type Load = LoadsRun['loads'][number];

function tableOf(loads: readonly Load[]): string {
  const [first] = loads;
  const phases = [...new Set(loads.flatMap((load) => load.phases.map(({ phase }) => phase)))];
  const row = (name: string, of: (load: Load) => string): string[] => [name, ...loads.map(of)];
  return markdownTable(
    [`${first?.format}, ${megabytes(first?.numBytes ?? 0)}`, ...loads.map(({ page }) => page)],
    [
      ...phases.map((name) =>
        row(name, (load) => seconds(load.phases.find(({ phase }) => phase === name)?.ms)),
      ),
      row('whole load', ({ whole }) => duration(whole)),
      row('after the last byte', ({ afterLastByte }) => duration(afterLastByte)),
      row('second start, page included', ({ secondStart }) => duration(secondStart)),
      row('peak memory of the renderer', ({ peakBytes }) => megabytes(peakBytes.median)),
    ],
  ).join('\n');
}

function duration({ ms, cpuMs }: Load['whole']): string {
  return `${seconds(ms)}, ${seconds(cpuMs)} of CPU`;
}

function seconds(spread: Spread | undefined): string {
  return spread ? `${(spread.median / 1000).toFixed(2)} s` : '';
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}

import { markdownTable } from '../../markdown-table.ts';
import type { StepCost, StepCostRun, StepResources } from '../results.ts';

const COLUMNS = [
  'model',
  'rows',
  'steps',
  'worker CPU',
  'of plain',
  'dispatches',
  'submits',
  'buffers created',
  'bytes read',
  'GPU process CPU',
  'GPU idle',
];

/** The conditions, and a line for each model, number of rows and kind of step. */
export function stepCostsReportOf(run: StepCostRun): string {
  const { browser, machine, backend, settings, command, costs } = run;
  return [
    `Decode steps on ${backend.name} ${backend.precision}: ${backend.adapter}, with the operators of a GPU; ${browser}; ${machine.cpu}, ` +
      `${machine.numCores} cores. Median of ${settings.rounds} interleaved rounds, in each the mean of ` +
      `${settings.numSteps} steps. \`${command}\``,
    '',
    ...markdownTable(COLUMNS, costs.flatMap(linesOf)),
  ].join('\n');
}

function linesOf(cost: StepCost): string[][] {
  const { median, min, max } = cost.cpuRatio;
  const ratio = `${median.toFixed(2)}× (${min.toFixed(2)} to ${max.toFixed(2)})`;
  return [lineOf(cost, 'captured', ratio), lineOf(cost, 'plain', '')];
}

function lineOf(cost: StepCost, kind: 'captured' | 'plain', ratio: string): string[] {
  const resources: StepResources = cost[kind];
  return [
    cost.model.id,
    String(cost.numRows),
    kind,
    `${resources.workerCpuMs.median.toFixed(2)} ms`,
    ratio,
    resources.dispatches.toFixed(1),
    resources.submits.toFixed(1),
    resources.buffersCreated.toFixed(1),
    resources.bytesRead.toFixed(0),
    `${resources.gpuProcessCpuMs.median.toFixed(1)} ms`,
    `${(100 * resources.gpuIdleShare).toFixed(1)} %`,
  ];
}

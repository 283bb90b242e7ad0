import { markdownTable } from '../../markdown-table.ts';
import type { ThreadsResult, ThreadsRun } from '../results.ts';

/** The conditions, and a line for each number of requests and of threads. */
export function threadsReportOf({ browser, machine, settings, command, results }: ThreadsRun): string {
  const [first] = results;
  const model = first
    ? `${first.model.id} (${(first.model.numParameters / 1e6).toFixed(1)} M parameters)`
    : '';
  return [
    `${model} on wasm fp32; ${browser}; ${machine.cpu}, ${machine.numCores} cores. ` +
      `Median of ${settings.rounds} interleaved rounds. \`${command}\``,
    '',
    ...markdownTable(
      ['requests', 'runs on', 'tokens/s', 'over one thread'],
      results.map((result) => cellsOf(result, results)),
    ),
  ].join('\n');
}

function cellsOf(result: ThreadsResult, results: readonly ThreadsResult[]): string[] {
  const oneThread = results.find(({ numRequests }) => numRequests === result.numRequests);
  const { median } = result.tokensPerSecond;
  const ratio =
    oneThread && oneThread !== result ? `${(median / oneThread.tokensPerSecond.median).toFixed(2)}×` : '';
  return [String(result.numRequests), result.adapter, median.toFixed(1), ratio];
}

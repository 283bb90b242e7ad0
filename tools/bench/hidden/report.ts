import { machineText } from '../conditions.ts';
import type { HiddenRun } from '../tabs/results.ts';

/** The run as Markdown. */
export function hiddenReportOf(run: HiddenRun): string {
  const { visible, hidden, longHidden } = run.tokensPerSecond;
  const over = (rate: number): string => `${rate.toFixed(1)} (${(rate / visible.median).toFixed(2)}×)`;
  return [
    `${run.model} on ${run.backend.name} (${run.backend.adapter}), ${run.browser} in an ordinary window; ${machineText(run)}. `,
    `${run.settings.numRequests} requests of another tab, tokens/s: ${visible.median.toFixed(1)} with the tab that `,
    `runs the model in front; ${over(hidden.median)} with it hidden; ${over(longHidden)} after ${run.longHiddenSeconds} s hidden. `,
    `Medians of ${run.settings.rounds} alternating rounds. \`${run.command}\``,
  ].join('');
}

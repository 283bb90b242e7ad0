import type { Percentiles } from '../statistics.ts';
import type { TabsRun } from './results.ts';

/** The run as Markdown. */
export function formatTabs({
  backend,
  browser,
  command,
  settings,
  tokensPerSecond,
  handover,
}: TabsRun): string {
  const { oneTab, manyTabs } = tokensPerSecond;
  const { numTabs, numRequests, rounds } = settings;
  return [
    `On ${backend.name} (${backend.adapter}), ${browser}, ${rounds} rounds. \`${command}\``,
    '',
    `- **${numTabs} tabs open, one of them generates** (${numRequests} requests): ${manyTabs.median.toFixed(1)} tokens/s, ` +
      `${oneTab.median.toFixed(1)} with one tab open: ${percent(manyTabs.median / oneTab.median)} %.`,
    `- **The tab that runs the model is closed**: next token in another tab after ${describe(handover.closed.totalMs)}, ` +
      `of which all but ${describe(handover.closed.withoutLoadMs)} is loading the model there.`,
    `- **It crashes**: next token after ${describe(handover.crashed.totalMs)}, ` +
      `all but ${describe(handover.crashed.withoutLoadMs)} of it loading.`,
    `- **It is closed, and the model has 135 M parameters**: next token after ${describe(handover.fullSize.totalMs)}, ` +
      `all but ${describe(handover.fullSize.withoutLoadMs)} of it loading.`,
  ].join('\n');
}

function percent(share: number): string {
  return (100 * share).toFixed(0);
}

function describe({ p50, p95 }: Percentiles): string {
  return `${p50.toFixed(0)} ms (p95 ${p95.toFixed(0)})`;
}

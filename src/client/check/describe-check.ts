import { RUNG_NAMES } from '../../protocol/ladder.ts';
import type { CheckedBackend, CheckLine, CheckName, CheckOutcome, CheckReport } from './types.ts';

export const TITLES: Readonly<Record<CheckName, string>> = {
  together: 'Nine prompts together, and one by one',
  handover: 'Nine prompts, and another worker takes over',
  shapes: 'Eight answers with a shape',
  values: 'Known values of a tiny model',
  tokens: '32 tokens on the CPU and on the GPU',
};

const OUTCOMES: Readonly<Record<CheckOutcome, string>> = {
  waiting: 'Waiting',
  running: 'Running',
  right: 'Right',
  wrong: 'Wrong',
  'not-run': 'Not run',
};

/** The report as plain text. */
export function describeCheck(report: Omit<CheckReport, 'text'>): string {
  const { lines, backends, userAgent, numCores, model, protocolVersion } = report;
  return [
    report.summary,
    '',
    ...lines.map(describeLine),
    '',
    ...backends.flatMap(describeBackend),
    `Browser: ${userAgent}, ${numCores} cores`,
    `Model: ${(model.numParameters / 1e6).toFixed(1)} M weights, ${model.numLayers} layers`,
    `Tabserve: protocol ${protocolVersion}`,
  ].join('\n');
}

/** `Right: 4 of 4. Not run: 1. 8 together: 3.4 × one at a time.` */
export function summaryOf({ lines, backends }: Pick<CheckReport, 'lines' | 'backends'>): string {
  const numOf = (...outcomes: readonly CheckOutcome[]): number =>
    lines.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const numLeft = numOf('not-run');
  const gain = backends[0] && gainOf(backends[0]);
  return [
    `Right: ${numOf('right')} of ${numOf('right', 'wrong')}.`,
    ...(numLeft > 0 ? [`Not run: ${numLeft}.`] : []),
    ...(gain === undefined ? [] : [`8 together: ${gain.toFixed(1)} × one at a time.`]),
  ].join(' ');
}

/** How many times as many tokens eight texts get in a second as one. */
function gainOf({ rates }: CheckedBackend): number | undefined {
  const rateAt = (wanted: number): number | undefined =>
    rates.find(({ numTexts }) => numTexts === wanted)?.tokensPerSecond;
  const [one, eight] = [rateAt(1), rateAt(8)];
  return one === undefined || eight === undefined ? undefined : eight / one;
}

function describeLine({ title, outcome, detail }: CheckLine): string {
  return [`${OUTCOMES[outcome]}: ${title}.`, detail].filter(Boolean).join(' ');
}

function describeBackend(backend: CheckedBackend): readonly string[] {
  const { name, rung, precision, adapter, rates, longestPauseMs, bytesPerSecond } = backend;
  // The CPU names itself with its precision.
  const how = name === 'webgpu' && rung ? ` (${RUNG_NAMES[rung]}, weights as ${precision})` : '';
  const sizes = rates.map(({ numTexts, tokensPerSecond }) => `${formatRate(tokensPerSecond)} at ${numTexts}`);
  return [
    `${adapter}${how}`,
    ...(sizes.length > 0 ? [`  Tokens a second: ${sizes.join(', ')}`] : []),
    ...(longestPauseMs === undefined
      ? []
      : [`  Longest pause of 8 texts while a long prompt is read: ${Math.round(longestPauseMs)} ms`]),
    ...(bytesPerSecond === undefined
      ? []
      : [`  Memory, read by one thread: ${(bytesPerSecond / 1e9).toFixed(1)} GB a second`]),
  ];
}

function formatRate(tokensPerSecond: number): string {
  return tokensPerSecond.toFixed(tokensPerSecond < 99.95 ? 1 : 0);
}

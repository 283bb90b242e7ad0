import { formatCount, formatNumber } from '../parts/format.ts';
import type { RequestStatus, RequestView } from '../state/request-view.ts';

type EndedRequest = Pick<RequestView, 'finishReason' | 'isStopped' | 'numOutputTokens'> & {
  /** Left out where it has one that isn't empty. */
  readonly generatedTexts?: readonly string[];
};

export function describeState(request: EndedRequest & Pick<RequestView, 'status'>): string {
  return request.status === 'finished' ? describeEnd(request) : STATES[request.status];
}

const STATES: Readonly<Record<Exclude<RequestStatus, 'finished'>, string>> = {
  waiting: 'Waiting',
  running: 'Running',
  cancelled: 'Stopped',
  failed: 'Failed',
};

function describeEnd({
  finishReason,
  isStopped = false,
  numOutputTokens,
  generatedTexts = [],
}: EndedRequest): string {
  // The reason is the first one's alone.
  if (generatedTexts.length > 1) return `Done: ${generatedTexts.length} texts`;
  if (finishReason === 'stop' && !isStopped && generatedTexts[0] === '') return 'Done: the text ends here';
  if (finishReason === 'length') return `Done: reached ${countTokens(numOutputTokens)}`;
  if (finishReason === 'stop') return isStopped ? 'Done: stop string' : 'Done: end of text';
  return 'Done';
}

/** One line; a figure is left out until it is known. */
export function describeFigures(
  request: Pick<RequestView, 'ttftMs' | 'numOutputTokens' | 'queueWaitMs'>,
): string {
  const { ttftMs, numOutputTokens, queueWaitMs } = request;
  const parts: string[] = [];
  if (ttftMs !== undefined) parts.push(`TTFT ${describeMs(ttftMs)}`);
  if (numOutputTokens > 0) parts.push(countTokens(numOutputTokens));
  if (queueWaitMs !== undefined) parts.push(`wait ${describeMs(queueWaitMs)}`);
  return parts.join(' · ');
}

/** Follows the figures where there is room. */
export function describeSeed({ seed }: Pick<RequestView, 'seed'>): string {
  return seed === undefined ? '' : ` · seed ${seed}`;
}

/** Follows the state: tokens per second, short, so that the unit is never cut. */
export function describeSpeed({ tokensPerSecond }: Pick<RequestView, 'tokensPerSecond'>): string {
  return tokensPerSecond === undefined ? '' : ` · ${formatNumber(tokensPerSecond)}/s`;
}

/** Shorter than elsewhere: the line is narrow. */
function describeMs(durationMs: number): string {
  if (durationMs >= 9950) return `${Math.round(durationMs / 1000)} s`;
  return durationMs >= 995 ? `${(durationMs / 1000).toFixed(1)} s` : `${Math.round(durationMs)} ms`;
}

function countTokens(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'token' : 'tokens'}`;
}

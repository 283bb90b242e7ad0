import { countOf, formatCount, formatNumber } from '../../parts/format.ts';
import type { RequestStatus, RequestView } from '../../state/request-view.ts';

type EndedRequest = Pick<
  RequestView,
  'finishReason' | 'isStopped' | 'numOutputTokens' | 'numPromptTokens'
> & {
  /** Left out where there is one. */
  readonly generatedTexts?: readonly string[];
};

/** @param contextLength Of the model that wrote it, in tokens, where it is known. */
export function describeState(
  request: EndedRequest & Pick<RequestView, 'status'>,
  contextLength?: number,
): string {
  return request.status === 'finished' ? describeEnd(request, contextLength) : STATES[request.status];
}

/** How a text was cut: at its limit, or because the context is full. Undefined where it wasn't. */
export function cutOf(request: EndedRequest, contextLength = Infinity): 'limit' | 'context' | undefined {
  if (request.finishReason !== 'length') return undefined;
  return usedContext(request) >= contextLength ? 'context' : 'limit';
}

/** `312 of 8,192`, in tokens. */
export function describeContext(request: EndedRequest, contextLength: number): string {
  return `${formatCount(usedContext(request))} of ${formatCount(contextLength)}`;
}

/** The tokens of a prompt and its text together. */
export function usedContext({ numPromptTokens = 0, numOutputTokens }: EndedRequest): number {
  return numPromptTokens + numOutputTokens;
}

const STATES: Readonly<Record<Exclude<RequestStatus, 'finished'>, string>> = {
  waiting: 'Waiting',
  running: 'Running',
  cancelled: 'Stopped',
  failed: 'Failed',
};

const JSON_TEXT = /^\s*[[{][^]*[\]}]\s*$/;

function describeEnd(request: EndedRequest, contextLength = Infinity): string {
  const { isStopped, numOutputTokens, generatedTexts = [] } = request;
  // The reason is the first one's alone.
  if (generatedTexts.length > 1) return `Done: ${generatedTexts.length} texts`;
  const cut = cutOf(request, contextLength);
  if (cut === 'context') return `Context full (${describeContext(request, contextLength)})`;
  if (cut === 'limit') return `Cut at ${countOf(numOutputTokens, 'token')}`;
  if (isStopped === undefined) return 'Done';
  // A shape ends a text as a stop string does.
  if (isStopped)
    return `Done: ${JSON_TEXT.test(generatedTexts[0] ?? '') ? 'the JSON is complete' : 'stop string'}`;
  // The end token alone.
  return numOutputTokens === 1 ? 'Done: the model ends here' : 'Done: end of text';
}

/** One line; a figure is left out until it is known. */
export function describeFigures(request: Pick<RequestView, 'ttftMs' | 'numOutputTokens'>): string {
  const { ttftMs, numOutputTokens } = request;
  const parts: string[] = [];
  if (ttftMs !== undefined) parts.push(`TTFT ${describeMs(ttftMs)}`);
  if (numOutputTokens > 0) parts.push(countOf(numOutputTokens, 'token'));
  return parts.join(' · ');
}

/** Follows the figures where there is room for all of it. */
export function describeMore({ queueWaitMs, seed }: Pick<RequestView, 'queueWaitMs' | 'seed'>): string {
  const wait = queueWaitMs === undefined ? '' : ` · wait ${describeMs(queueWaitMs)}`;
  return seed === undefined ? wait : `${wait} · seed ${seed}`;
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

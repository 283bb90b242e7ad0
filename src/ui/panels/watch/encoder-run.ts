import { percentilesOf } from '../../../client/index.ts';
import { layoutTimeline } from './timeline-layout.ts';
import type { BatchView } from '../../state/batch-view.ts';
import type { ServeView } from '../../state/serve-store.ts';
import type { TimeSpan } from './time-span.ts';

/** One batch of an encoder. Times are in ms since the start of the run. */
export interface EncoderBatch extends Pick<BatchView, 'queueLength' | 'waitMs' | 'executionMs' | 'backend'> {
  readonly startedMs: number;
  readonly endedMs: number;
  readonly numTexts: number;
  readonly numUseful: number;
  readonly numPadding: number;
}

const known = new WeakMap<readonly BatchView[], readonly EncoderBatch[]>();

/**
 * The last batches of many texts without a pause between them, oldest first. A lone text, such as that of a search, is no part of
 * a run.
 */
export function encoderRunOf(
  { batches }: Pick<ServeView, 'batches'>,
  deployment: string,
): readonly EncoderBatch[] {
  const all = batches.get(deployment);
  if (!all) return [];
  const found = known.get(all) ?? runOf(all);
  known.set(all, found);
  return found;
}

function runOf(batches: readonly BatchView[]): readonly EncoderBatch[] {
  const ofMany = batches.filter(({ batchSize, queueLength }) => batchSize + queueLength > 1);
  const rows = layoutTimeline(ofMany).busySpans.at(-1) ?? [];
  return rows.map(({ batch, cutMs, endedMs }) => {
    const { batchSize: numTexts, measuredSize, numTokens: numUseful = 0 } = batch;
    // A text that is longer than a batch may be counts as a whole batch.
    const numPadding = Math.max(0, measuredSize - numUseful);
    return { ...batch, startedMs: cutMs, endedMs, numTexts, numUseful, numPadding };
  });
}

/** From the first batch to the end of the last one. */
function durationOf(run: readonly EncoderBatch[]): number {
  return (
    Math.max(0, ...run.map(({ endedMs }) => endedMs)) - Math.min(...run.map(({ startedMs }) => startedMs))
  );
}

export function summarizeEncoderRun(run: readonly EncoderBatch[]) {
  if (run.length === 0) return undefined;
  const sum = (name: 'numTexts' | 'numUseful' | 'numPadding'): number =>
    run.reduce((total, batch) => total + batch[name], 0);
  const [numTexts, numUseful, numPadding] = [sum('numTexts'), sum('numUseful'), sum('numPadding')];
  const durationMs = durationOf(run);
  return {
    numBatches: run.length,
    durationMs,
    textsPerSecond: (numTexts * 1000) / durationMs,
    tokensPerSecond: (numUseful * 1000) / durationMs,
    /** Padding as a share of the size of all batches, 0 to 1. */
    paddingShare: numPadding / (numUseful + numPadding),
    numOnWasm: run.filter(({ backend }) => backend === 'wasm').length,
    executionMs: percentilesOf(run.map(({ executionMs }) => executionMs)),
  };
}

/** The time axis of its charts. */
export function encoderSpanOf(view: Pick<ServeView, 'batches'>, deployment: string): TimeSpan {
  const endMs = Math.max(1, ...encoderRunOf(view, deployment).map(({ endedMs }) => endedMs));
  return { startMs: 0, endMs, untilMs: endMs, originMs: 0, isLive: false };
}

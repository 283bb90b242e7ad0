import type { BatchRecord, DeploymentInfo } from '../../client/index.ts';
import { isEncoder } from './is-encoder.ts';

/** A batch with its place in time: durations come from the worker, the place is on this tab's clock. */
export interface BatchView extends BatchRecord {
  readonly endedAtMs: number;
  readonly ranAlone: boolean;
}

export type CutReason = BatchRecord['reason'];

/** By the deployment's name, oldest first. */
export type BatchViews = ReadonlyMap<string, readonly BatchView[]>;

export interface ReceivedBatch {
  readonly batch: BatchRecord;
  readonly receivedAtMs: number;
}

/** The most batches in timeline and table; `serve.batches()` keeps more. */
export const MAX_SHOWN_BATCHES = 20;

/** The most batches in the charts of an encoder: those of 10,000 texts. */
const MAX_CHARTED_BATCHES = 2000;

export function appendBatches(
  batches: BatchViews,
  events: readonly ReceivedBatch[],
  deployments: readonly DeploymentInfo[],
): BatchViews {
  if (events.length === 0) return batches;
  const appended = new Map(batches);
  for (const { batch, receivedAtMs } of events) {
    const { deployment } = batch;
    const knobs = deployments.find(({ name }) => name === deployment)?.knobs;
    const view = { ...batch, endedAtMs: receivedAtMs, ranAlone: knobs?.maxConcurrentBatches === 1 };
    const maxKept = isEncoder(deployment) ? MAX_CHARTED_BATCHES : MAX_SHOWN_BATCHES;
    appended.set(deployment, [...(appended.get(deployment) ?? []), view].slice(-maxKept));
  }
  return appended;
}

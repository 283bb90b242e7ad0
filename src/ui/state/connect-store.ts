import type { Serve } from '../../worker/client/client.ts';
import { END_TYPES } from '../../worker/protocol/protocol.ts';
import type { BatchingPolicy, BatchKnobs, RequestId } from '../../worker/protocol/protocol.ts';
import { withBasePolicy } from './base-policy.ts';
import { ChartHistory } from './chart-history.ts';
import { createFrameQueue } from './frame-queue.ts';
import type { FrameSource } from './frame-queue.ts';
import { applyEvents, createServeStore } from './serve-store.ts';
import type { ServeEvent, ServeStore } from './serve-store.ts';

/** Makes the store that follows `serve` for the life of the page: all its topics, at most once per frame. */
export function connectStore(serve: Serve, frames: FrameSource): ServeStore {
  const store = createServeStore(serve.status(), new ChartHistory());
  const push = createFrameQueue<ServeEvent>((events) => applyEvents(store, events), frames);
  serve.subscribe('status', (status) => push({ type: 'status', status }));
  /** Requests of this tab that have not ended: without any, what the others do can wait. */
  const own = new Set<RequestId>();
  /** One of them has ended since the last stats: the next ones have its last step. */
  let hasOwnEnd = false;
  serve.subscribe('stats', (stats) => {
    push({ type: 'stats', stats, receivedAtMs: performance.now() }, own.size === 0 && !hasOwnEnd);
    hasOwnEnd = false;
  });
  serve.subscribe('batch', (batch) => push({ type: 'batch', batch, receivedAtMs: performance.now() }));
  serve.subscribe('requests', (updates) => {
    for (const { type, requestId } of updates) {
      if (type === 'submitted') own.add(requestId);
      else if (END_TYPES.has(type)) hasOwnEnd = own.delete(requestId) || hasOwnEnd;
    }
    push({ type: 'requests', updates, receivedAtMs: performance.now() });
  });
  serve.subscribe('activity', (activity) => push({ type: 'activity', activity }, own.size === 0));
  return store;
}

/** Applies the knobs to the users' own policy and shows it without awaiting a frame; rejects with the refusal. */
export async function configurePolicy(
  serve: Serve,
  store: ServeStore,
  knobs: Partial<BatchingPolicy>,
): Promise<void> {
  const policy = await serve.configure('text-generator', knobs);
  store.setState(({ status }) => ({ status: withBasePolicy(status, policy) }));
}

/** As `configurePolicy`, for any other deployment. */
export async function configureDeployment(
  serve: Serve,
  store: ServeStore,
  name: string,
  change: Partial<BatchKnobs>,
): Promise<void> {
  const knobs = await serve.configure(name, change);
  store.setState(({ status }) => {
    const deployments = status.deployments.map((info) => (info.name === name ? { name, knobs } : info));
    return { status: { ...status, deployments } };
  });
}

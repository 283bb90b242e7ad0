import {
  END_TYPES,
  TEXT_GENERATOR,
  type BatchingPolicy,
  type BatchKnobs,
  type RequestId,
  type TabserveClient,
  type TabserveStatus,
} from '../../client/index.ts';
import { isActive } from './request-view.ts';
import { createServeStore, type ServeStore } from './serve-store.ts';

/** Creates the store that follows all topics of `serve` for the life of the page. It changes at most once per frame. */
export function connectStore(serve: TabserveClient): ServeStore {
  const store = createServeStore(serve.status());
  const { receive } = store;
  serve.subscribe('status', (status) => receive({ type: 'status', status, receivedAtMs: performance.now() }));
  /** Running requests of this tab. Without any, updates of other tabs can wait. */
  const own = new Set<RequestId>();
  /** A request of this tab has ended since the last stats, so the next stats have its last step. */
  let hasOwnEnd = false;
  serve.subscribe('stats', (stats) => {
    // The last step of a run is shown at once, whoever sent it.
    const isIdle = stats.numRunning + stats.numWaiting === 0;
    receive(
      { type: 'stats', stats, receivedAtMs: performance.now() },
      own.size === 0 && !hasOwnEnd && !isIdle,
    );
    hasOwnEnd = false;
  });
  serve.subscribe('batch', (batch) => receive({ type: 'batch', batch, receivedAtMs: performance.now() }));
  serve.subscribe('requests', (updates) => {
    for (const { type, requestId } of updates) {
      if (type === 'submitted') own.add(requestId);
      else if (END_TYPES.has(type)) hasOwnEnd = own.delete(requestId) || hasOwnEnd;
    }
    receive({ type: 'requests', updates, receivedAtMs: performance.now() });
  });
  serve.subscribe('activity', (activity) => {
    const goesOn = activity.requests.some(({ state }) => isActive(state));
    receive({ type: 'activity', activity }, own.size === 0 && goesOn);
  });
  return store;
}

/** Changes the users' own policy and shows it at once; rejects with the refusal. */
export async function configurePolicy(
  serve: TabserveClient,
  store: ServeStore,
  knobs: Partial<BatchingPolicy>,
): Promise<void> {
  const policy = await serve.configure(TEXT_GENERATOR, knobs);
  store.setState(({ status }) => ({ status: withBasePolicy(status, policy) }));
}

export async function configureDeployment(
  serve: TabserveClient,
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

/** The users' own policy, which a load test may override for a while. The policy panel shows and changes this one. */
export function basePolicyOf({ override, policy }: TabserveStatus): BatchingPolicy {
  return override?.basePolicy ?? policy;
}

function withBasePolicy(status: TabserveStatus, policy: BatchingPolicy): TabserveStatus {
  if (!status.override) return { ...status, policy };
  return { ...status, override: { ...status.override, basePolicy: policy } };
}

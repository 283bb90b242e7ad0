import type { TabserveClient, ClientUpdate } from '../../src/client/index.ts';
import type { PageDeployments } from '../../src/deployments/registry.ts';
import type { TabserveStats, StepRecord } from '../../src/protocol/stats.ts';

/** Keeps what the page's client reports, so that a test can ask afterwards what happened and in which order. */
export interface Recorder {
  readonly steps: StepRecord[];
  readonly updates: ClientUpdate[];
  /** True when every request has ended, and the worker has said after the start of the last one that nothing runs or waits. */
  isIdle(): boolean;
  clear(): void;
}

declare global {
  interface Window {
    tabserve: TabserveClient<PageDeployments>;
    recorder: Recorder;
  }
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. */
export function installRecorder(): void {
  const steps: StepRecord[] = [];
  const updates: ClientUpdate[] = [];
  const outstanding = new Set<string>();
  let statsSinceLastStart: TabserveStats | undefined;
  let hasUpdates = false;

  window.tabserve.subscribe('requests', (received) => {
    for (const update of received) {
      const { type, requestId } = update;
      if (type === 'submitted' && update.deployment === 'text-generator') outstanding.add(requestId);
      // The other deployments have no part in the engine's stats.
      if (!outstanding.has(requestId)) continue;
      updates.push(update);
      hasUpdates = true;
      if (type === 'finished' || type === 'failed') outstanding.delete(requestId);
      // The worker reports the step that leaves it idle before that step's updates.
      else if (type !== 'chunk') statsSinceLastStart = undefined;
    }
  });
  window.tabserve.subscribe('stats', (stats) => {
    steps.push(...stats.steps);
    statsSinceLastStart = stats;
  });
  window.recorder = {
    steps,
    updates,
    isIdle() {
      if (!hasUpdates) return true;
      const stats = statsSinceLastStart;
      return outstanding.size === 0 && stats?.numRunning === 0 && stats.numWaiting === 0;
    },
    clear() {
      steps.length = 0;
      updates.length = 0;
      hasUpdates = false;
    },
  };
}

import type { ModelLoad } from '../../../src/protocol/models.ts';

/** How long each phase of a load took. */
export interface TimedLoad {
  /** In ms; the phases that the load reported, in order. */
  readonly phases: readonly (readonly [ModelLoad['phase'], number])[];
  readonly totalMs: number;
}

/** Runs in the page. It is sent there as text, so it can't use anything outside of itself. */
export async function timeLoadInPage([id, hub]: readonly [string, string]): Promise<TimedLoad> {
  const startedAtMs = performance.now();
  const begun: [ModelLoad['phase'], number][] = [];
  await window.tabserve.loadModel(id, {
    hub,
    dtype: 'fp32',
    onProgress({ phase }) {
      if (begun.at(-1)?.[0] !== phase) begun.push([phase, performance.now()]);
    },
  });
  const endedAtMs = performance.now();
  return {
    phases: begun.map(([phase, atMs], i) => [phase, (begun[i + 1]?.[1] ?? endedAtMs) - atMs]),
    totalMs: endedAtMs - startedAtMs,
  };
}

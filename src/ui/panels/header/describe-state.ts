import type { BackendInfo, LoadProgress, TabserveState, TabserveStatus } from '../../../client/index.ts';

export const BACKENDS = {
  webgpu: { title: 'WebGPU', place: 'Adapter', kind: 'Hardware adapter' },
  wasm: { title: 'CPU' },
  server: { title: 'Server', place: 'Server', kind: 'Batches with its own settings' },
} as const satisfies Record<BackendInfo['name'], object>;

const STATE_NAMES: Readonly<Record<TabserveState, string>> = {
  loading: 'Loading the model',
  'warming-up': 'Warming up',
  ready: 'Ready',
  failed: 'Failed',
  closed: 'Closed',
};

const PHASE_NAMES: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Loading the model',
  prepare: 'Preparing the model',
  check: 'Checking the GPU',
  compile: 'Compiling shaders',
};

/** Changes only a few times per load, because screen readers announce each change. */
export function describeState(status: TabserveStatus): string {
  const phase = describePhase(status);
  if (status.recovery && isLoading(status.state)) return `Recovering: ${phase}`;
  return status.isHandover ? `Handing over: ${phase}` : phase;
}

export function describePhase({ state, progress, backend }: TabserveStatus): string {
  if (!isLoading(state) || !progress) return STATE_NAMES[state];
  // The CPU has no shaders: its first runs only warm up.
  const hasShaders = backend?.name !== 'wasm';
  return progress.phase === 'compile' && !hasShaders
    ? STATE_NAMES['warming-up']
    : PHASE_NAMES[progress.phase];
}

export function isLoading(state: TabserveState): boolean {
  return state === 'loading' || state === 'warming-up';
}

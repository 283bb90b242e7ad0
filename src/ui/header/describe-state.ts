import type { FaultKind, Recovery } from '../../worker/protocol/recovery.ts';
import type { LoadProgress } from '../../worker/protocol/models.ts';
import type { ServeState, ServeStatus } from '../../worker/protocol/status.ts';
import { formatCount, formatMegabytes } from '../format.ts';
import { canGenerate } from '../state/can-generate.ts';

const STATE_NAMES: Readonly<Record<ServeState, string>> = {
  loading: 'Loading the model',
  'warming-up': 'Warming up',
  ready: 'Ready',
  failed: 'Failed',
  closed: 'Closed',
};

const PHASE_NAMES: Readonly<Record<LoadProgress['phase'], string>> = {
  download: 'Downloading the model',
  prepare: 'Preparing the model',
  compile: 'Compiling shaders',
};

const FAULT_NAMES: Readonly<Record<FaultKind, string>> = {
  'device-lost': 'the GPU device was lost',
  'adapter-gone': 'the GPU was gone',
  'gpu-error': 'the GPU refused its work',
  'gpu-hang': 'the GPU did not answer any more',
  'out-of-memory': 'memory ran out',
  'wasm-abort': 'the WASM runtime broke off',
  'run-failed': 'a run of the model failed',
  'worker-error': 'the worker failed',
  'worker-hang': 'the worker did not answer any more',
  'worker-ended': 'the worker was ended',
};

/** Changes only a few times per load, because screen readers announce each change. */
export function describeState(status: ServeStatus): string {
  const phase = describePhase(status);
  if (status.recovery && isLoading(status.state)) return `Recovering: ${phase}`;
  return status.isHandover ? `Handing over: ${phase}` : phase;
}

export function describeTabs({ state, role, isolationReason, backend }: ServeStatus): string {
  if (!canGenerate(state)) return state === 'failed' ? 'no model runs' : 'this one is disconnected';
  if (isolationReason) return isolationReason;
  if (backend?.name === 'upstream') {
    return role === 'leader' ? 'this one asks the upstream' : 'another one asks the upstream';
  }
  return role === 'leader' ? 'this one runs the model' : 'another one runs the model';
}

function describePhase({ state, progress, backend }: ServeStatus): string {
  if (!isLoading(state) || !progress) return STATE_NAMES[state];
  // WASM has no shaders: its first runs only warm up.
  const hasShaders = backend?.name !== 'wasm';
  return progress.phase === 'compile' && !hasShaders
    ? STATE_NAMES['warming-up']
    : PHASE_NAMES[progress.phase];
}

export function describeDetail({ state, progress, role, backend, recovery }: ServeStatus): string {
  switch (state) {
    case 'loading':
    case 'warming-up':
      if (recovery) return describeRecovery(recovery, false);
      return progress ? describeProgress(progress) : 'starting the worker';
    case 'ready':
      if (recovery) return describeRecovery(recovery, true);
      if (backend?.name === 'upstream') return 'prompts are answered by the upstream';
      return role === 'leader' ? 'prompts are answered in this tab' : 'prompts are answered by another tab';
    case 'failed':
      return 'see the error below';
    case 'closed':
      return 'reload the page to start again';
    default:
      return state satisfies never;
  }
}

function describeRecovery({ kind, attempt, isCondemning }: Recovery, isOver: boolean): string {
  const fault = attempt > 1 ? `${FAULT_NAMES[kind]}, ${attempt} times in a row` : FAULT_NAMES[kind];
  if (isOver) {
    return `recovered: ${fault}, and ${isCondemning ? 'the request that has caused it fails' : 'no request was lost'}`;
  }
  return `${fault}: all requests ${isCondemning ? 'but the one that has caused it ' : ''}go on in a new worker`;
}

export function isLoading(state: ServeState): boolean {
  return state === 'loading' || state === 'warming-up';
}

function describeProgress({ phase, loaded, total }: LoadProgress): string {
  if (phase === 'download') {
    return total > 0
      ? `${formatMegabytes(loaded)} of ${formatMegabytes(total)} MB`
      : `${formatMegabytes(loaded)} MB`;
  }
  return total > 0 ? `${formatCount(loaded)} of ${formatCount(total)} steps` : 'under way';
}

import type { LoadProgress, ServeState, ServeStatus } from '../../worker/protocol.ts';
import { formatCount, formatMegabytes } from '../format.ts';

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

/** Changes a few times per load only, so that a screen reader may be told each time. */
export function describeState(status: ServeStatus): string {
  return status.isHandover ? `Handing over: ${describePhase(status)}` : describePhase(status);
}

/** Who runs the worker for how many tabs. */
export function describeTabs({ role, isolationReason, backend }: ServeStatus): string {
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

/** What there is to wait for, or to do next. */
export function describeDetail({ state, progress, role, backend }: ServeStatus): string {
  switch (state) {
    case 'loading':
    case 'warming-up':
      return progress ? describeProgress(progress) : 'starting the worker';
    case 'ready':
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

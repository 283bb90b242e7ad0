import type { FaultKind, LoadProgress, Recovery, TabserveStatus } from '../../../client/index.ts';
import { formatCount, formatMegabytes } from '../../parts/format.ts';
import { canGenerate } from '../../state/can-generate.ts';
import { isLoading } from './describe-state.ts';

const FAULT_NAMES: Readonly<Record<FaultKind, string>> = {
  'device-lost': 'The GPU device was lost',
  'adapter-gone': 'The GPU disappeared',
  'gpu-error': 'The GPU reported an error',
  'gpu-hang': 'The GPU stopped responding',
  'out-of-memory': 'Memory ran out',
  'wrong-values': 'The GPU computed wrong values',
  'wasm-abort': 'The kernels of the CPU crashed',
  'run-failed': 'The model failed to run',
  'worker-error': 'The worker crashed',
  'worker-hang': 'The worker stopped responding',
  'worker-ended': 'The worker ended',
};

/** What the list of tabs doesn't say. */
export function describeTabs({ state, isolationReason, backend }: TabserveStatus): string {
  if (!canGenerate(state)) return state === 'failed' ? 'No model is running' : 'This tab is disconnected';
  if (isolationReason) return isolationReason;
  return backend?.name === 'server' ? 'This tab sends prompts to the server' : '';
}

export function describeDetail({ state, progress, isHandover }: TabserveStatus): string {
  if (state === 'failed') return 'The page says why below';
  if (state === 'closed') return 'Reload the page to start again';
  if (state === 'ready') return '';
  if (progress) return describeProgress(progress);
  return isHandover ? 'Another tab takes over. All requests continue.' : 'Starting the worker';
}

/** How the worker before this one ended, and how its requests went on. */
export function describeRecovery({ state, recovery }: TabserveStatus): string {
  if (!recovery) return 'None';
  const { kind, attempt, hasFatalRequest } = recovery;
  const fault = attempt > 1 ? `${FAULT_NAMES[kind]}, ${attempt} times in a row` : FAULT_NAMES[kind];
  return `${fault}. ${describeRequests(isLoading(state), hasFatalRequest)}`;
}

function describeRequests(isRecovering: boolean, hasFatalRequest: Recovery['hasFatalRequest']): string {
  if (isRecovering)
    return `All requests ${hasFatalRequest ? 'except the one that caused it ' : ''}continue in a new worker.`;
  return hasFatalRequest ? 'Only the request that caused it failed.' : 'No request was lost.';
}

function describeProgress({ phase, loaded, total }: LoadProgress): string {
  if (phase === 'check') return `${formatCount(loaded)} of ${formatCount(total)} tokens`;
  if (phase === 'compile') return `${formatCount(loaded)} of ${formatCount(total)} steps`;
  if (total > 0) return `${formatMegabytes(loaded)} of ${formatMegabytes(total)} MB`;
  return loaded > 0 ? `${formatMegabytes(loaded)} MB` : 'In progress';
}

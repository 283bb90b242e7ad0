import type { ServeState } from '../../worker/protocol/status.ts';

/** Whether a prompt is answered, now or after the load. */
export function canGenerate(state: ServeState): boolean {
  return state !== 'failed' && state !== 'closed';
}

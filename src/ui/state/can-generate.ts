import type { ServeState } from '../../client/index.ts';

/** Whether a prompt is answered, now or after the load. */
export function canGenerate(state: ServeState): boolean {
  return state !== 'failed' && state !== 'closed';
}

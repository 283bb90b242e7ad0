import type { TabserveState } from '../../client/index.ts';

/** Whether a prompt is answered, now or after the load. */
export function canGenerate(state: TabserveState): boolean {
  return state !== 'failed' && state !== 'closed';
}

import type { RequestId } from '../../../client/index.ts';
import type { ServeView } from '../../state/serve-store.ts';

type Tables = Pick<ServeView, 'requests' | 'runs'>;

/** The requests of the newest run of prompts, in the order of submission; cleared ones are left out. */
export function cellIds({ requests, runs }: Tables): readonly RequestId[] {
  return runs.prompts?.requestIds.filter((id) => requests.has(id)) ?? [];
}

/** All other requests, newest first. */
export function earlierIds(view: Tables): readonly RequestId[] {
  const ofRun = new Set(view.runs.prompts?.requestIds);
  return [...view.requests.keys()].filter((id) => !ofRun.has(id)).toReversed();
}

/** Cells of a run that are drawn at once. */
const MAX_CELLS = 40;
const CELLS_PER_PAGE = 20;

/** How many of a long run's first cells are hidden. The newest stay in view, and the grid moves with every twentieth only. */
export function countHidden(numCells: number, numMorePages: number): number {
  const numTooMany = numCells - MAX_CELLS - numMorePages * CELLS_PER_PAGE;
  return Math.max(0, Math.ceil(numTooMany / CELLS_PER_PAGE) * CELLS_PER_PAGE);
}

import { jobModelChanged } from '../../protocol/errors/job-messages.ts';
import type { BackendInfo } from '../../protocol/models.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';

/** The model that answers the rows of a job. */
export interface JobModel {
  readonly id: string;
  /** Left out of a job that was begun before jobs kept it. */
  readonly precision?: BackendInfo['precision'];
}

/** Why a job that one model has begun can't go on with the other one. */
export function modelObstacle(began: JobModel, serves: JobModel): WireError | undefined {
  const isSame = began.id === serves.id && (began.precision ?? serves.precision) === serves.precision;
  return isSame ? undefined : toWireError(jobModelChanged(named(began), named(serves)));
}

function named({ id, precision }: JobModel): string {
  return precision === undefined ? id : `${id} in ${precision}`;
}

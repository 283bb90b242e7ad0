import { jobModelChanged } from '../../protocol/errors/job-messages.ts';
import type { ServedModel } from '../../protocol/models.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';

/** The model that answers the rows of a job. */
export interface JobModel {
  readonly id: string;
  readonly origin?: ServedModel['origin'] | undefined;
  /** Left out of a job that was begun before jobs kept more than the ID. */
  readonly precision?: ServedModel['precision'];
}

/** Why a job that one model has begun can't go on with the other one. */
export function modelObstacle(began: JobModel, serves: JobModel): WireError | undefined {
  const [name, other] = [named(began), named(serves)];
  if (began.id === serves.id && began.precision === undefined) return undefined;
  if (name === other && began.origin === serves.origin) return undefined;
  return toWireError(jobModelChanged(name, name === other ? `another revision of ${serves.id}` : other));
}

function named({ id, precision }: JobModel): string {
  return precision === undefined ? id : `${id} in ${precision}`;
}

import { jobModelChanged } from '../../protocol/errors/job-messages.ts';
import type { WireError } from '../../protocol/wire.ts';
import { toWireError } from '../../protocol/wire-errors.ts';
import { canContinue, type ComparedModel } from '../../protocol/served-model.ts';

/** The model that began a job. Before jobs kept more than its ID, it had no precision. */
export interface JobModel extends Omit<ComparedModel, 'precision'> {
  readonly precision?: ComparedModel['precision'] | undefined;
}

/** Why a job that one model has begun can't go on with the other one. */
export function modelObstacle(began: JobModel, serves: ComparedModel): WireError | undefined {
  const { id, precision } = began;
  const goesOn = precision === undefined ? id === serves.id : canContinue({ ...began, precision }, serves);
  if (goesOn) return undefined;
  const [name, other] = [named(began), named(serves)];
  return toWireError(jobModelChanged(name, name === other ? `another revision of ${serves.id}` : other));
}

function named({ id, precision }: JobModel): string {
  return precision === undefined ? id : `${id} in ${precision}`;
}

import type { BackendInfo, ModelInfo, ServedModel } from './models.ts';

export function toServedModel(
  { id, origin }: Pick<ModelInfo, 'id' | 'origin'>,
  { name, rung, precision }: Pick<BackendInfo, 'name' | 'rung' | 'precision'>,
): ServedModel {
  return {
    id,
    ...(origin !== undefined && { origin }),
    backend: name,
    ...(rung && { rung }),
    precision,
  };
}

/** The part of a model that its texts depend on. */
export interface ComparedModel extends Pick<ServedModel, 'id' | 'precision'> {
  readonly origin?: ServedModel['origin'] | undefined;
  readonly rung?: ServedModel['rung'] | undefined;
}

/** Whether a text that one model has begun stays the same, up to rounding, if the other one goes on with it. */
export function canContinue(begun: ComparedModel, next: ComparedModel): boolean {
  if (begun.id !== next.id || begun.origin !== next.origin) return false;
  return begun.precision === next.precision || standsIn(begun, next) || standsIn(next, begun);
}

/** A rung without fp16 takes fp32 for it. On a device that has fp16, somebody has chosen between the two. */
function standsIn({ precision, rung }: ComparedModel, replaced: ComparedModel): boolean {
  return precision === 'fp32' && rung !== 'webgpu-fp16' && replaced.precision === 'fp16';
}

import type { BackendInfo, ModelInfo, ServedModel } from './protocol.ts';

export function servedModel({ id }: ModelInfo, { name, precision }: BackendInfo): ServedModel {
  return { id, backend: name, precision };
}

/** Whether a text of one model means anything to the other; between an upstream and a model in the tab it never does. */
export function isSameModel(a: ServedModel, b: ServedModel): boolean {
  return a.id === b.id && (a.backend === 'upstream') === (b.backend === 'upstream');
}

import type { BackendInfo, ModelInfo } from './protocol.ts';

/** Of which a request can go on at another worker; what an upstream has made of it means nothing to a model in the tab. */
export function servedModelId({ id }: ModelInfo, { name }: BackendInfo): string {
  return name === 'upstream' ? `upstream:${id}` : id;
}

import { isRecord } from '../platform/is-record.ts';

/** Sent by the page once its model runs on a backend, whose files then have to be available offline. */
export interface KeepMessage {
  readonly type: 'KEEP';
  readonly backend: 'webgpu' | 'wasm';
}

export function isKeepMessage(data: unknown): data is KeepMessage {
  if (!isRecord(data) || data['type'] !== 'KEEP') return false;
  return data['backend'] === 'webgpu' || data['backend'] === 'wasm';
}

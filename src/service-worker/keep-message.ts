/** The page tells its service worker where the model runs, once it does: what that needs has to be there offline. */
export interface KeepMessage {
  readonly type: 'KEEP';
  readonly backend: 'webgpu' | 'wasm';
}

export function isKeepMessage(data: unknown): data is KeepMessage {
  if (typeof data !== 'object' || data === null || !('type' in data) || !('backend' in data)) return false;
  return data.type === 'KEEP' && (data.backend === 'webgpu' || data.backend === 'wasm');
}

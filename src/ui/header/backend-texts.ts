import type { BackendInfo } from '../../client/index.ts';

export const BACKENDS = {
  webgpu: { title: 'WebGPU', place: 'Adapter', kind: 'Hardware adapter' },
  wasm: { title: 'WASM', place: 'Processor', kind: 'Runs on the CPU' },
  upstream: { title: 'Upstream', place: 'Server', kind: 'Batches with its own settings' },
} as const satisfies Record<BackendInfo['name'], object>;

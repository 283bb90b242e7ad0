import type { BackendChoice, Rung, WorkerPast } from './protocol.ts';

const LADDER = ['webgpu-fp16', 'webgpu-fp32', 'wasm-threads', 'wasm'] as const;

/** Of the first worker of a tab. */
export const NO_PAST: WorkerPast = { leftRungs: [], isProven: false, condemned: [] };

/** The rungs to try in turn. A backend that was asked for keeps to its own. */
export function ladderOf(choice: BackendChoice): readonly Rung[] {
  switch (choice) {
    case 'auto':
      return LADDER;
    case 'webgpu':
      return LADDER.slice(0, 2);
    case 'wasm':
      return LADDER.slice(2);
    default:
      return choice satisfies never;
  }
}

export const RUNG_NAMES: Readonly<Record<Rung, string>> = {
  'webgpu-fp16': 'WebGPU in fp16',
  'webgpu-fp32': 'WebGPU in fp32',
  'wasm-threads': 'WASM with threads',
  wasm: 'WASM',
};

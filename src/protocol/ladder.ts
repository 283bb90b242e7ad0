import * as v from 'valibot';
import type { Wire } from './wire.ts';

/**
 * Where the model may run, best first. Each rung is tried in a worker of its own. A software adapter is below all of them: it serves
 * only if `webgpu` is requested.
 */
const LADDER = ['webgpu-fp16', 'webgpu-fp32', 'wasm-threads', 'wasm'] as const;

export const rung = v.picklist(LADDER);
/**
 * Where a model runs. Best first: WebGPU in fp16, WebGPU in fp32, the CPU with threads, the CPU with one.
 *
 * @useDeclaredType
 */
export type Rung = Wire<typeof rung>;

export const RUNG_NAMES: Readonly<Record<Rung, string>> = {
  'webgpu-fp16': 'WebGPU in fp16',
  'webgpu-fp32': 'WebGPU in fp32',
  'wasm-threads': 'the CPU with threads',
  wasm: 'the CPU',
};

/** The values of `backend`. */
export const BACKEND_CHOICES = ['auto', 'webgpu', 'wasm'] as const;

export const backendChoice = v.picklist(BACKEND_CHOICES);
/**
 * Where the runtime may run: `auto` is WebGPU if there is a hardware adapter, else `wasm`, the CPU. `webgpu` also takes a software adapter.
 *
 * @useDeclaredType
 */
export type BackendChoice = Wire<typeof backendChoice>;

/** The rungs to try, in order. */
export const LADDERS: Readonly<Record<BackendChoice, readonly Rung[]>> = {
  auto: LADDER,
  webgpu: LADDER.slice(0, 2),
  wasm: LADDER.slice(2),
};

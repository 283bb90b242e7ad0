import type * as Ort from 'onnxruntime-web/webgpu';
import { createMutex } from './mutex.ts';

export type OrtModule = typeof Ort;

/**
 * Every create, run and release goes through this: overlapping calls hang the asyncify build of onnxruntime-web and
 * abort the JSPI build, whatever sessions they are on.
 */
export const ortMutex = createMutex();

/**
 * The build of onnxruntime-web for a backend. The bare import is the old TypeScript GPU backend and is never used.
 * With JSPI (WebAssembly stack switching) a run takes half the CPU time of the asyncify build.
 */
export function loadOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  if (backend === 'wasm') return import('onnxruntime-web/wasm');
  return 'Suspending' in WebAssembly ? import('onnxruntime-web/jspi') : import('onnxruntime-web/webgpu');
}

import type * as Ort from 'onnxruntime-web/webgpu';
import { importPart } from '../platform/import-part.ts';
import { createMutex } from './mutex.ts';

export type OrtModule = typeof Ort;

/**
 * Every create, run and release goes through this mutex. Overlapping calls, even on different sessions, hang the asyncify
 * build of onnxruntime-web and abort the JSPI build.
 */
export const ortMutex = createMutex();

let loaded: Promise<OrtModule> | undefined;
let hasThreads = true;

/** Called where threads have failed, before the first session: a build reads their number once. */
export function forbidThreads(): void {
  hasThreads = false;
}

/**
 * Loads the build of onnxruntime-web for a backend. The bare import is never used: it is the old GPU backend.
 *
 * @throws PageOutdatedError where it cannot be fetched.
 */
export function loadOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  loaded = importOrt(backend);
  return loaded;
}

/** The build that this worker runs already, or else the smallest one. So no second copy is loaded. */
export function ortInUse(): Promise<OrtModule> {
  return (loaded ??= importOrt('wasm'));
}

async function importOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  const ort = await importPart(() => importBuild(backend));
  if (!hasThreads) ort.env.wasm.numThreads = 1;
  return ort;
}

function importBuild(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  if (backend === 'wasm') return import('onnxruntime-web/wasm');
  // With JSPI (WebAssembly stack switching) a run takes half the CPU time of the asyncify build.
  return 'Suspending' in WebAssembly ? import('onnxruntime-web/jspi') : import('onnxruntime-web/webgpu');
}

import type * as Ort from 'onnxruntime-web/webgpu';
import { importPart } from '../platform/import-part.ts';
import { createMutex } from './mutex.ts';

export type OrtModule = typeof Ort;

/**
 * Every create, run and release goes through this: overlapping calls hang the asyncify build of onnxruntime-web and
 * abort the JSPI build, whatever sessions they are on.
 */
export const ortMutex = createMutex();

let loaded: Promise<OrtModule> | undefined;
let hasThreads = true;

/**
 * Where threads have failed, no session has any. A build takes their number over once, with its first session, and that may be
 * a deployment's: so it is said before there is one.
 */
export function forbidThreads(): void {
  hasThreads = false;
}

/**
 * The build of onnxruntime-web for a backend. The bare import is the old TypeScript GPU backend and is never used.
 * With JSPI (WebAssembly stack switching) a run takes half the CPU time of the asyncify build.
 *
 * @throws PageOutdatedError where it cannot be fetched.
 */
export function loadOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  loaded = importOrt(backend);
  return loaded;
}

/** The build that this worker runs already, so that no second copy is loaded; the smallest one where there is none. */
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
  return 'Suspending' in WebAssembly ? import('onnxruntime-web/jspi') : import('onnxruntime-web/webgpu');
}

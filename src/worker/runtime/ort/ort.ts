import type * as Ort from 'onnxruntime-web/jspi';
import { importPart } from '../../base/import-part.ts';
import { noWebGpuAdapter, webGpuNotShipped } from '../../../protocol/errors/runtime-messages.ts';
import type { RuntimeFileError } from '../../../protocol/errors/worker.ts';
import { createMutex } from '../../../platform/mutex.ts';
import { WASM_FILES, type OrtBuild, type OrtBuilds } from './ort-builds.ts';
import { requireWasm } from '../require-wasm.ts';
import { noRuntime, runtimeFileMissing } from './ort-errors.ts';

export type OrtModule = Omit<typeof Ort, 'InferenceSession'> & {
  readonly InferenceSession: {
    /** @throws RuntimeFileError if the runtime's `.wasm` file cannot be loaded. */
    create(model: Uint8Array, options: Ort.InferenceSession.SessionOptions): Promise<Ort.InferenceSession>;
  };
};

const NO_JSPI = "this browser lacks WebAssembly's JSPI, which Chrome 137, Firefox 153 and Safari 27 have";

/**
 * The runtime's errors when its file is missing, or when another file came in its place. A policy that forbids WebAssembly
 * would match too, but `requireWasm` has ruled it out.
 */
const MISSING_FILE = /fetching of the wasm failed|CompileError/;

/**
 * Every create, run and release goes through this mutex. Overlapping calls, even on different sessions, abort the WebGPU build
 * of onnxruntime-web.
 */
export const ortMutex = createMutex();

/** After a missing file every later attempt fails with an unrelated error, so the first one is kept. */
const missingFiles = new Map<OrtBuild, RuntimeFileError>();

let builds: OrtBuilds = {};
let loaded: Promise<OrtModule> | undefined;
let webgpu: Promise<OrtModule> | undefined;
let complete: Promise<OrtModule> | undefined;
let hasThreads = true;
let runtimeFolder: string | undefined;

/** Call before the first session. */
export function setBuilds(shipped: OrtBuilds): void {
  builds = shipped;
}

/** Called where threads have failed, before the first session: a build reads their number once. */
export function forbidThreads(): void {
  hasThreads = false;
}

/**
 * Call before the first session.
 *
 * @param url Absolute URL of the folder with the `.wasm` files.
 */
export function setRuntimeFolder(url: string): void {
  runtimeFolder = url.endsWith('/') ? url : `${url}/`;
}

/**
 * Loads the build of onnxruntime-web for WebGPU. The bare import is never used: it is the old GPU backend.
 *
 * @throws PageOutdatedError if it cannot be fetched; WasmForbiddenError if a policy forbids WebAssembly.
 */
export function loadOrt(): Promise<OrtModule> {
  webgpu = importOrt('webgpu');
  loaded = webgpu;
  return webgpu;
}

/**
 * The build that this worker runs already, or else the smallest one. So no second copy is loaded.
 *
 * @throws NoRuntimeError if no build that this worker ships runs in this browser.
 */
export function ortInUse(): Promise<OrtModule> {
  return (loaded ??= importOrt('wasm'));
}

/** The build for a model of a deployment on WebGPU: that which the generator runs on, or else one beside that in use. */
export function ortOnWebGpu(): Promise<OrtModule> {
  return (webgpu ??= importOrt('webgpu'));
}

/** The CPU's own build, where another one is in use: it has operators that the other lacks. Undefined where there is none. */
export function completeOrt(): Promise<OrtModule> | undefined {
  if (!builds.wasm || loaded !== webgpu) return undefined;
  return (complete ??= importOrt('wasm'));
}

/** @throws NoWebGpuAdapterError if this worker ships no build for WebGPU, or this browser doesn't run it. */
export function requireWebGpuBuild(): void {
  if (!builds.webgpu) throw webGpuNotShipped();
  if (!hasJspi()) throw noWebGpuAdapter(NO_JSPI);
}

function hasJspi(): boolean {
  return 'Suspending' in WebAssembly;
}

async function importOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  requireWasm();
  const name = builds[backend] ? backend : 'webgpu';
  if (name === 'webgpu' && !hasJspi()) throw noRuntime(NO_JSPI);
  const build = builds[name];
  if (!build) throw new Error('startWorker() passes the builds of onnxruntime-web');
  const ort = await importPart(() => build.load());
  if (!hasThreads) ort.env.wasm.numThreads = 1;
  if (runtimeFolder !== undefined) ort.env.wasm.wasmPaths = { wasm: runtimeFolder + WASM_FILES[name] };
  return {
    ...ort,
    InferenceSession: {
      async create(model, options) {
        try {
          return await ort.InferenceSession.create(model, options);
        } catch (cause) {
          throw explain(build, cause);
        }
      },
    },
  };
}

/** The address that onnxruntime has asked for its file, which the bundler has chosen. */
function lastWasmUrl(): string | undefined {
  return performance.getEntriesByType('resource').findLast(({ name }) => name.includes('.wasm'))?.name;
}

function explain(build: OrtBuild, cause: unknown): unknown {
  if (cause instanceof Error && MISSING_FILE.test(cause.message))
    missingFiles.set(build, runtimeFileMissing(cause, lastWasmUrl()));
  return missingFiles.get(build) ?? cause;
}

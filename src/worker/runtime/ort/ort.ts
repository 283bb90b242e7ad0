import type * as Ort from 'onnxruntime-web/jspi';
import { importPart } from '../../import-part.ts';
import { NoWebGpuAdapterError } from '../../../protocol/errors/runtime.ts';
import { RuntimeFileError } from '../../../protocol/errors/worker.ts';
import { createMutex } from '../../../platform/mutex.ts';
import { WASM_FILES, type OrtBuild, type OrtBuilds } from './ort-builds.ts';
import { importFactory } from './ort-memory.ts';
import { noRuntime, runtimeFileMissing, wasmForbidden } from './ort-errors.ts';

export type OrtModule = Omit<typeof Ort, 'InferenceSession'> & {
  readonly InferenceSession: {
    /** @throws RuntimeFileError if the runtime's `.wasm` file cannot be loaded. */
    create(model: Uint8Array, options: Ort.InferenceSession.SessionOptions): Promise<Ort.InferenceSession>;
  };
};

/** An empty WebAssembly module: magic number and version. */
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

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
 * Loads the build of onnxruntime-web for a backend. The bare import is never used: it is the old GPU backend.
 *
 * @throws PageOutdatedError if it cannot be fetched; WasmForbiddenError if a policy forbids WebAssembly.
 */
export function loadOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  loaded = importOrt(backend);
  return loaded;
}

/** The build that this worker runs already, or else the smallest one. So no second copy is loaded. */
export function ortInUse(): Promise<OrtModule> {
  return (loaded ??= importOrt('wasm'));
}

/** @throws NoWebGpuAdapterError or NoRuntimeError if no build that this worker ships runs in this browser. */
export function requireBuild(backend: 'webgpu' | 'wasm'): void {
  if (backend === 'webgpu' && !builds.webgpu) throw NoWebGpuAdapterError.notShipped();
  const needsJspi = backend === 'webgpu' || !builds.wasm;
  if (!needsJspi || 'Suspending' in WebAssembly) return;
  throw backend === 'webgpu' ? NoWebGpuAdapterError.because(NO_JSPI) : noRuntime(NO_JSPI);
}

async function importOrt(backend: 'webgpu' | 'wasm'): Promise<OrtModule> {
  requireWasm();
  const name = builds[backend] ? backend : 'webgpu';
  const build = builds[name];
  if (!build) throw new Error('startWorker() passes the builds of onnxruntime-web');
  const ort = await importPart(() => build.load());
  if (!hasThreads) ort.env.wasm.numThreads = 1;
  const wasm = runtimeFolder === undefined ? undefined : runtimeFolder + WASM_FILES[name];
  const mjs = build.loadFactory && (await importFactory(build.loadFactory, wasm));
  ort.env.wasm.wasmPaths = { ...(wasm !== undefined && { wasm }), ...(mjs !== undefined && { mjs }) };
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

/** @throws WasmForbiddenError. */
function requireWasm(): void {
  try {
    void new WebAssembly.Module(EMPTY_MODULE);
  } catch (cause) {
    throw wasmForbidden(cause);
  }
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

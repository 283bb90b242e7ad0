// The core compiles against `lib: ["es2024"]`, which has no AbortSignal. Declaring one globally would leak into every
// project that imports the core, and a structural copy in the public types could not be passed on to `fetch`. So the
// public type is looked up: where the importing project knows the platform's AbortSignal it is that very type, and
// only the core itself sees the four members below.
interface MinimalAbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** The platform's `AbortSignal`, whatever `lib` the importing project compiles with. */
export type AbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer PlatformSignal } }
  ? PlatformSignal
  : MinimalAbortSignal;

export interface AbortController {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
}

interface PlatformAbort {
  readonly AbortController: new () => AbortController;
}

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every platform that we run on has it
const platform = globalThis as unknown as PlatformAbort;

/** A real `AbortController`, so that its signal works with `fetch` and everything else that takes one. */
export function createAbortController(): AbortController {
  return new platform.AbortController();
}

/** Calls `listener` when `signal` aborts. Returns the function that stops listening. */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener);
  return () => signal.removeEventListener('abort', listener);
}

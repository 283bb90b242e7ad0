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

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every supported platform has it
const platform = globalThis as unknown as PlatformAbort;

/** A real `AbortController`, so that its signal works with `fetch` and everything else that takes one. */
export function createAbortController(): AbortController {
  return new platform.AbortController();
}

/** The listeners of one signal, in order of registration. */
class AbortAudience {
  readonly #listeners = new Set<() => void>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#notifyAll);
  }

  add(listener: () => void): void {
    this.#listeners.add(listener);
  }

  remove(listener: () => void): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    audiences.delete(this.#signal);
    this.#signal.removeEventListener('abort', this.#notifyAll);
  }

  readonly #notifyAll = (): void => {
    audiences.delete(this.#signal);
    for (const listener of this.#listeners) listener();
  };
}

const audiences = new WeakMap<AbortSignal, AbortAudience>();

/**
 * Calls `listener` when `signal` aborts; it must not throw. Returns a function that stops listening. Adding a listener to a
 * platform's signal takes time linear in their number, so all calls on one signal share one listener.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  let audience = audiences.get(signal);
  if (!audience) {
    audience = new AbortAudience(signal);
    audiences.set(signal, audience);
  }
  audience.add(listener);
  return () => audience.remove(listener);
}

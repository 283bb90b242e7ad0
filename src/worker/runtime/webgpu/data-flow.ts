import type { NamedDispatch } from './named-dispatch.ts';

/** A name of what a dispatch of a pass reads or writes. */
export interface Port {
  readonly at: number;
  readonly name: string;
}

/** Which dispatch reads what another one has written. onnxruntime-web's buffers serve one value after the other. */
export class DataFlow {
  readonly #sources = new Map<string, Port>();
  readonly #readers = new Map<string, Port[]>();

  constructor(dispatches: readonly NamedDispatch[]) {
    const latest = new Map<GPUBuffer, Port>();
    for (const [at, { reads, writes }] of dispatches.entries()) {
      for (const [name, { buffer }] of reads) {
        const source = latest.get(buffer);
        if (!source) continue;
        this.#sources.set(keyOf({ at, name }), source);
        this.#readers.get(keyOf(source))?.push({ at, name });
      }
      for (const [name, { buffer }] of writes) {
        latest.set(buffer, { at, name });
        this.#readers.set(keyOf({ at, name }), []);
      }
    }
  }

  /** What has written this input; undefined for weights and inputs of the pass. */
  sourceOf(input: Port): Port | undefined {
    return this.#sources.get(keyOf(input));
  }

  readersOf(output: Port): readonly Port[] {
    return this.#readers.get(keyOf(output)) ?? [];
  }
}

export function keyOf({ at, name }: Port): string {
  return `${at} ${name}`;
}

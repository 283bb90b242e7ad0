import { capturePass } from './capture-pass.ts';
import type { CapturedPass } from './captured-pass.ts';

/** Rows join and leave, so several shapes are in use at a time. A capture of 12 layers takes about 40 kB of GPU memory. */
const MAX_CAPTURES = 16;

/**
 * Captures of decode steps by their shape. The first step of a shape only runs, because its shaders may have to compile. The
 * second one is captured.
 */
export class CapturedSteps {
  readonly #device: GPUDevice;
  /** Least recently used first. A `seen` step has run once, an `unrepeatable` one can't be captured. */
  readonly #steps = new Map<string, CapturedPass | 'seen' | 'unrepeatable'>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  find(shape: string): CapturedPass | undefined {
    const known = this.#steps.get(shape);
    if (!known || typeof known === 'string') return undefined;
    if (known.isIntact) {
      this.#put(shape, known);
      return known;
    }
    known.destroy();
    this.#put(shape, 'seen');
    return undefined;
  }

  /** Runs a step that `find` has no capture of. Captures the second run. */
  async run(shape: string, step: () => Promise<unknown>): Promise<void> {
    const known = this.#steps.get(shape);
    if (known === 'seen') this.#put(shape, (await capturePass(this.#device, step)) ?? 'unrepeatable');
    else {
      await step();
      this.#put(shape, known ?? 'seen');
    }
  }

  /** Drops all captures. Call when buffers that the steps use are replaced. */
  clear(): void {
    for (const step of this.#steps.values()) if (typeof step !== 'string') step.destroy();
    this.#steps.clear();
  }

  #put(shape: string, step: CapturedPass | 'seen' | 'unrepeatable'): void {
    this.#steps.delete(shape);
    this.#steps.set(shape, step);
    const [oldest] = this.#steps;
    if (this.#steps.size <= MAX_CAPTURES || !oldest) return;
    if (typeof oldest[1] !== 'string') oldest[1].destroy();
    this.#steps.delete(oldest[0]);
  }
}

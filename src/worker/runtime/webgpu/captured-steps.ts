import { capturePass } from './capture-pass.ts';
import type { CapturedPass } from './captured-pass.ts';

/** The bench also builds a page that describes each step anew, to measure what captures spare. */
const IS_CAPTURING = import.meta.env.MODE !== 'plain-steps';

/** Rows come and go, so several shapes are in use at a time. A capture of 12 layers takes some 40 kB of the GPU's memory. */
const MAX_CAPTURES = 16;

/**
 * Captures of decode steps by their shape. The first step of a shape runs as it is, since its shaders may have to be compiled;
 * the second one is captured.
 */
export class CapturedSteps {
  readonly #device: GPUDevice;
  /** The least recently used first. `seen` has run once, `unrepeatable` can't be captured. */
  readonly #steps = new Map<string, CapturedPass | 'seen' | 'unrepeatable'>();

  constructor(device: GPUDevice) {
    this.#device = device;
  }

  find(shape: string): CapturedPass | undefined {
    const known = this.#steps.get(shape);
    if (!known || typeof known === 'string') return undefined;
    this.#put(shape, known.isIntact ? known : 'seen');
    if (known.isIntact) return known;
    known.destroy();
    return undefined;
  }

  /** Runs a step of which there is no capture. */
  async run(shape: string, step: () => Promise<unknown>): Promise<void> {
    const known = this.#steps.get(shape);
    if (IS_CAPTURING && known === 'seen')
      this.#put(shape, (await capturePass(this.#device, step)) ?? 'unrepeatable');
    else {
      await step();
      this.#put(shape, known ?? 'seen');
    }
  }

  /** Called when buffers that the steps use are replaced. */
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

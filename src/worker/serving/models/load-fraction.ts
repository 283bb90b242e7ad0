import type { LoadStage } from '../../../protocol/models.ts';

/** Where each phase ends on the way from 0 to 1. One that is skipped leaves its part to the next. */
const ENDS: Readonly<Record<LoadStage['phase'], number>> = {
  resolve: 0.01,
  download: 0.85,
  convert: 0.85,
  prepare: 0.95,
  check: 0.97,
  compile: 0.99,
  drain: 1,
};

/** How much of a whole load is done. It never goes back, also where a phase begins again after a pause. */
export class LoadFraction {
  #phase: LoadStage['phase'] | undefined;
  #begin = 0;
  #value = 0;

  at({ phase, loaded, total }: Pick<LoadStage, 'phase' | 'loaded' | 'total'>): number {
    if (phase !== this.#phase) this.#begin = this.#value;
    this.#phase = phase;
    const part = total > 0 ? Math.min(1, loaded / total) : 0;
    this.#value = Math.max(this.#value, this.#begin + part * (ENDS[phase] - this.#begin));
    return this.#value;
  }

  /** Of a load that has succeeded, whatever phases it had. */
  end(): number {
    this.#value = 1;
    return this.#value;
  }
}

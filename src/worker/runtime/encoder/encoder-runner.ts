import type { BackendInfo } from '../../../protocol/models.ts';
import { sumOf, type EncoderRow } from '../encoder-inputs.ts';
import type { EncoderBackend } from '../encoder-backend.ts';

/** A batch's outputs, and the device that ran it. */
export interface EncoderRun {
  /** A vector or a score for each row, in order. */
  readonly outputs: readonly Float32Array[];
  readonly backend: BackendInfo['name'];
}

/** Rows of the runs that measure a device. Their tokens are padding. */
const PROBES: readonly (readonly EncoderRow[])[] = [[rowOf(8)], Array.from({ length: 8 }, () => rowOf(32))];

/**
 * Times that a probe runs: the first compiles shaders. A batch of one size may be slow by chance, so two of each are remembered.
 */
const NUM_PROBES = 3;

/** Runs each batch of an encoder on the device where it is likely to end first: a GPU is slow for a short text. */
export class EncoderRunner {
  readonly #backends: readonly EncoderBackend[];

  /** @param backends Two devices at most, whose vectors differ by rounding alone. */
  constructor(backends: readonly EncoderBackend[]) {
    this.#backends = backends;
  }

  /** The longest row that all devices hold, in tokens. */
  get maxTokens(): number {
    return Math.min(...this.#backends.map(({ maxTokens }) => maxTokens));
  }

  /** Tokens from which on the first device is faster than the second; undefined for one device, or if it never is. */
  get crossover(): number | undefined {
    const [first, second] = this.#backends;
    if (!first || !second) return undefined;
    const isFaster = (numTokens: number): boolean => first.cost.msOf(numTokens) < second.cost.msOf(numTokens);
    for (let numTokens = 1; numTokens <= 2 ** 16; numTokens *= 2) if (isFaster(numTokens)) return numTokens;
    return undefined;
  }

  /** Whether these rows can run together. */
  fits(rows: readonly EncoderRow[]): boolean {
    return this.#backends.every((backend) => backend.fits(rows));
  }

  /** Tokens of a batch that ends within this time. */
  tokensWithin(ms: number): number {
    return Math.max(...this.#backends.map(({ cost }) => cost.tokensWithin(ms)));
  }

  /** @throws As `EncoderBackend.run`. */
  async run(rows: readonly EncoderRow[]): Promise<EncoderRun> {
    const numTokens = sumOf(rows);
    const [first, ...others] = this.#backends;
    if (!first) throw new Error('Expected a device');
    const fastest = others.reduce(
      (best, other) => (other.cost.msOf(numTokens) < best.cost.msOf(numTokens) ? other : best),
      first,
    );
    return { outputs: await fastest.run(rows), backend: fastest.name };
  }

  /** Measures each device. @throws As `EncoderBackend.run`. */
  async measure(): Promise<void> {
    for (const backend of this.#backends)
      for (const probe of PROBES)
        for (let round = 0; round < NUM_PROBES; round++) {
          // The first run compiles shaders, which is no cost of later ones.
          await backend.run(probe, round > 0);
        }
  }

  async release(): Promise<void> {
    for (const backend of this.#backends) await backend.release();
  }
}

function rowOf(length: number): EncoderRow {
  return { tokenIds: Array.from({ length }, () => 0), numFirst: length };
}

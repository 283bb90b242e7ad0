import type { Step } from './model-runner.ts';

/** Prefilled at least, however slow the device is: fewer tokens cost hardly less. */
const SMALLEST_CHUNK = 16;

/** A stall of this many decode steps is hardly seen in a running text. */
const AUTO_DECODE_STEPS = 3;

/** Steps of each kind that are remembered: enough to even out noise, few enough to follow a growing batch. */
const NUM_REMEMBERED = 8;

interface Measured {
  readonly ms: number;
  /** Padded tokens of a prefill step. */
  readonly numTokens: number;
}

/** Measures steps, and says how many prompt tokens can be prefilled within a time on this device. */
export class PrefillPace {
  #prefills: readonly Measured[] = [];
  #decodes: readonly Measured[] = [];
  readonly #startsMs = new WeakMap<Step, number>();
  #endedAtMs = -Infinity;

  start(step: Step, nowMs: number): void {
    this.#startsMs.set(step, nowMs);
  }

  /** @returns How long the step took, in ms. */
  end(step: Step, nowMs: number): number {
    const startedAtMs = this.#startsMs.get(step) ?? nowMs;
    // A step that was launched behind another one has only run since that one's end.
    const ms = nowMs - Math.max(startedAtMs, this.#endedAtMs);
    this.#endedAtMs = nowMs;
    if (step.kind === 'decode') this.#decodes = remember(this.#decodes, { ms, numTokens: 1 });
    else this.#prefills = remember(this.#prefills, { ms, numTokens: paddedTokensOf(step.rows) });
    return ms;
  }

  /** How long a decode step takes of late; undefined before the first. */
  get decodeMs(): number | undefined {
    return costOf(this.#decodes);
  }

  /**
   * @param stallMs `auto` for about three decode steps.
   * @returns Whole chunks, in tokens; Infinity before both kinds of steps were measured.
   */
  tokensWithin(stallMs: number | 'auto'): number {
    const { decodeMs } = this;
    const tokenMs = costOf(this.#prefills);
    if (decodeMs === undefined || tokenMs === undefined) return Infinity;
    const limitMs = stallMs === 'auto' ? AUTO_DECODE_STEPS * decodeMs : stallMs;
    if (tokenMs === 0 || limitMs === Infinity) return Infinity;
    return Math.max(1, Math.floor(limitMs / tokenMs / SMALLEST_CHUNK)) * SMALLEST_CHUNK;
  }
}

function paddedTokensOf(rows: Step['rows']): number {
  return rows.length * Math.max(...rows.map(({ tokenIds }) => tokenIds.length));
}

function remember(steps: readonly Measured[], step: Measured): readonly Measured[] {
  return [...steps.slice(1 - NUM_REMEMBERED), step];
}

/** Milliseconds per token; undefined before any step. */
function costOf(steps: readonly Measured[]): number | undefined {
  if (steps.length === 0) return undefined;
  const [ms, numTokens] = steps.reduce(
    ([sum, count], step) => [sum + step.ms, count + step.numTokens],
    [0, 0],
  );
  return ms / numTokens;
}

/** Weight of the newest step of its size where it took longer than those before: a few of them even out noise, which makes no step shorter. */
const NEWEST = 0.25;

/** What a step costs that feeds in some number of tokens, and what each further token adds. */
export interface StepCost {
  readonly stepMs: number;
  readonly tokenMs: number;
}

/** Steps after which a size that was not measured again is forgotten: by then the machine may be busier, and texts longer. */
const MEMORY = 100;

/** The least that a further token costs, as a share of what it is taken to cost before it is known: noise never makes it free. */
const LEAST_SHARE = 1 / 8;

/** Learns what decode steps cost, by their number of tokens: the straight line that fits best. */
export class StepCosts {
  /** Ms by number of tokens, and the last step of that size. */
  readonly #sizes = new Map<number, { readonly ms: number; readonly step: number }>();
  #numSteps = 0;

  measure(numTokens: number, ms: number): void {
    const before = this.#sizes.get(numTokens)?.ms ?? ms;
    this.#numSteps += 1;
    this.#sizes.set(numTokens, { ms: Math.min(ms, before + NEWEST * (ms - before)), step: this.#numSteps });
    for (const [size, { step }] of this.#sizes) if (step <= this.#numSteps - MEMORY) this.#sizes.delete(size);
  }

  /** Until steps of two sizes were measured, a step is taken to cost as much as one more token does, by itself. */
  of(numTokens: number): StepCost {
    const points = Array.from(this.#sizes, ([size, { ms }]) => ({ size, ms }));
    const size = meanOf(points.map((point) => point.size));
    const ms = meanOf(points.map((point) => point.ms));
    if (size === undefined || ms === undefined) return { stepMs: numTokens + 1, tokenMs: 1 };
    const spread = meanOf(points.map((point) => (point.size - size) ** 2)) ?? 0;
    const slope = meanOf(points.map((point) => (point.size - size) * (point.ms - ms))) ?? 0;
    const assumedMs = ms / (size + 1);
    const tokenMs = spread === 0 ? assumedMs : Math.max(LEAST_SHARE * assumedMs, slope / spread);
    return { stepMs: Math.max(0, ms + tokenMs * (numTokens - size)), tokenMs };
  }
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;
}

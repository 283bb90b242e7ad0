/** Weight of the newest step of its size: a few of them even out noise, and follow texts that grow. */
const NEWEST = 0.25;

/** What a step costs that feeds in some number of tokens, and what each further token adds. */
export interface StepCost {
  readonly stepMs: number;
  readonly tokenMs: number;
}

/** Learns what decode steps cost, by their number of tokens: the straight line that fits best. */
export class StepCosts {
  /** Mean ms by number of tokens. */
  readonly #means = new Map<number, number>();

  measure(numTokens: number, ms: number): void {
    const mean = this.#means.get(numTokens) ?? ms;
    this.#means.set(numTokens, mean + NEWEST * (ms - mean));
  }

  /** Until steps of two sizes were measured, a step is taken to cost as much as one more token does, by itself. */
  of(numTokens: number): StepCost {
    const points = [...this.#means];
    const [size, ms] = [0, 1].map((axis) => meanOf(points.map((point) => point[axis] ?? 0)));
    if (size === undefined || ms === undefined) return { stepMs: numTokens + 1, tokenMs: 1 };
    const spread = meanOf(points.map(([x]) => (x - size) ** 2)) ?? 0;
    const slope = meanOf(points.map(([x, y]) => (x - size) * (y - ms))) ?? 0;
    const tokenMs = spread === 0 ? ms / (size + 1) : Math.max(0, slope / spread);
    return { stepMs: Math.max(0, ms + tokenMs * (numTokens - size)), tokenMs };
  }
}

function meanOf(values: readonly number[]): number | undefined {
  return values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : undefined;
}

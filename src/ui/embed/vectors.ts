/** Vectors of length 1, one behind the other. */
export interface Vectors {
  readonly values: Float32Array;
  readonly dimensions: number;
}

export interface Nearest {
  readonly index: number;
  /** The cosine to the query, from -1 to 1. */
  readonly score: number;
}

function numVectors({ values, dimensions }: Vectors): number {
  return values.length / dimensions;
}

/** The nearest vectors, best first. Equal ones keep their order. */
export function nearestTo(query: ArrayLike<number>, vectors: Vectors, count: number): readonly Nearest[] {
  const scored = Array.from({ length: numVectors(vectors) }, (_, index) => ({
    index,
    score: dot(vectors, index, query),
  }));
  return scored.toSorted((a, b) => b.score - a.score).slice(0, count);
}

function dot({ values, dimensions }: Vectors, index: number, other: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < dimensions; at += 1) sum += (values[index * dimensions + at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/** Rows that decide on the axes of a map. More make it slower and no better. */
const MAX_AXIS_ROWS = 256;
/** Ample: neighbors on a map need no exact axis. */
const NUM_ITERATIONS = 50;

/**
 * A map of the vectors: their places on their two principal axes, found by power iteration. The same vectors have the same map.
 *
 * @returns x and y of each, from 0 to 1.
 */
export function projectToPlane(vectors: Vectors): Float32Array {
  const { dimensions } = vectors;
  const count = numVectors(vectors);
  const step = Math.max(1, Math.ceil(count / MAX_AXIS_ROWS));
  const sampled = Array.from({ length: Math.ceil(count / step) }, (_, row) => row * step);
  const mean = new Float32Array(dimensions);
  for (const index of sampled) addTimes(mean, vectors, index, 1 / sampled.length);
  const places = new Float32Array(2 * count);
  const axes: Float32Array[] = [];
  for (const at of [0, 1]) {
    const axis = principalAxis(vectors, sampled, mean, axes);
    axes.push(axis);
    const ofMean = dot({ values: mean, dimensions }, 0, axis);
    const places1d = Array.from({ length: count }, (_, index) => dot(vectors, index, axis) - ofMean);
    const [least, most] = [Math.min(...places1d), Math.max(...places1d)];
    for (const [index, place] of places1d.entries())
      places[2 * index + at] = most > least ? (place - least) / (most - least) : 0.5;
  }
  return places;
}

/** The direction in which these rows differ most, among those at right angles to `others`. */
function principalAxis(
  vectors: Vectors,
  rows: readonly number[],
  mean: Float32Array,
  others: readonly Float32Array[],
): Float32Array {
  const { dimensions } = vectors;
  // Any start will do that is not at right angles to the axis; this one is the same each time.
  let axis = Float32Array.from({ length: dimensions }, (_, at) => Math.sin(1 + at));
  for (let iteration = 0; iteration < NUM_ITERATIONS; iteration += 1) {
    const next = new Float32Array(dimensions);
    const ofMean = dot({ values: mean, dimensions }, 0, axis);
    let sum = 0;
    for (const index of rows) {
      const weight = dot(vectors, index, axis) - ofMean;
      addTimes(next, vectors, index, weight);
      sum += weight;
    }
    addTimes(next, { values: mean, dimensions }, 0, -sum);
    for (const other of others) {
      const along = dot({ values: next, dimensions }, 0, other);
      addTimes(next, { values: other, dimensions }, 0, -along);
    }
    const length = Math.hypot(...next);
    if (length === 0) break;
    axis = next.map((value) => value / length);
  }
  return axis;
}

/** `sum += weight * row`. */
function addTimes(sum: Float32Array, { values, dimensions }: Vectors, index: number, weight: number): void {
  for (let at = 0; at < dimensions; at += 1)
    sum[at] = (sum[at] ?? 0) + weight * (values[index * dimensions + at] ?? 0);
}

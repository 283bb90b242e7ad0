/** The ids of the k largest logits in order of id; of equal logits the lower id counts as the larger. */
export function topK(logits: Float32Array, k: number, scratch: Int32Array): Int32Array {
  const kept = scratch.subarray(0, Math.min(k, logits.length));
  for (let id = 0; id < kept.length; id += 1) kept[id] = id;
  if (kept.length === logits.length) return kept;
  // The least likely of the kept tokens is on top of a heap, so most tokens of a large vocabulary cost one comparison.
  for (let index = kept.length >> 1; index >= 0; index -= 1) siftDown(kept, index, logits);
  for (let id = kept.length; id < logits.length; id += 1) {
    if (at(logits, id) <= at(logits, at(kept, 0))) continue;
    kept[0] = id;
    siftDown(kept, 0, logits);
  }
  return kept.toSorted();
}

/** Orders ids by likelihood, the likeliest first. */
export function compareLikelihood(logits: Float32Array): (a: number, b: number) => number {
  return (a, b) => (isLikelier(logits, a, b) ? -1 : 1);
}

/** An element of a typed array at an index that is known to exist. */
export function at(array: Float32Array | Float64Array | Int32Array | Uint32Array, index: number): number {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a check here would cost one per logit
  return array[index] as number;
}

function siftDown(heap: Int32Array, start: number, logits: Float32Array): void {
  const id = at(heap, start);
  let index = start;
  for (;;) {
    const child = leastLikelyChild(heap, index, logits);
    if (child >= heap.length || isLikelier(logits, at(heap, child), id)) break;
    heap[index] = at(heap, child);
    index = child;
  }
  heap[index] = id;
}

/** The index of the child that belongs on top, or one past the end if there is none. */
function leastLikelyChild(heap: Int32Array, index: number, logits: Float32Array): number {
  const left = 2 * index + 1;
  const right = left + 1;
  return right < heap.length && isLikelier(logits, at(heap, left), at(heap, right)) ? right : left;
}

function isLikelier(logits: Float32Array, a: number, b: number): boolean {
  const [logitA, logitB] = [at(logits, a), at(logits, b)];
  return logitA > logitB || (logitA === logitB && a < b);
}

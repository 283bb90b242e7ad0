/** What the fixture keeps of PyTorch's logits. */
export interface ExpectedLogits {
  readonly top20: { readonly ids: readonly number[]; readonly logits: readonly number[] };
}

/** Over the reference's 20 largest logits, relative to the largest of them; NaN where a logit is none. */
export function relativeError(logits: Float32Array, { top20 }: ExpectedLogits): number {
  const scale = Math.max(...top20.logits.map(Math.abs));
  const differences = top20.ids.map((id, i) => Math.abs((logits[id] ?? NaN) - (top20.logits[i] ?? NaN)));
  return Math.max(...differences) / scale;
}

export function argmax(logits: Float32Array): number {
  return logits.indexOf(Math.max(...logits));
}

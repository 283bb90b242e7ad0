/** Index of one sequence's reserved row in the batch dimension of the K/V tensors. */
export type KvSlot = number & { readonly __brand: 'KvSlot' };

export function kvSlot(index: number): KvSlot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one place where slots are made
  return index as KvSlot;
}

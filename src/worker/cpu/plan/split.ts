import type { Compiler, OpOf } from './compiler.ts';

/** Parts of a value of one head lie where the value lies, if nothing reads that later. Others are copied. */
export function compileSplit(op: OpOf<'split'>, to: Compiler): void {
  const { inputs, outputs, numHeads } = op;
  const [input] = inputs;
  if (numHeads === 1 && to.buffers.endsAt(input, op)) {
    to.buffers.placeWithin(input, outputs);
    return;
  }
  const from = to.buffers.placeOf(input);
  const headSize = input.width / numHeads;
  let start = 0;
  for (const output of outputs) {
    const place = to.buffers.place(output);
    const size = output.width / numHeads;
    const first = start;
    const rows = to.rowsOf(input);
    to.add((pass) => {
      for (let head = 0; head < numHeads; head++) {
        const source = to.at({ ...from, column: from.column + head * headSize + first });
        const target = to.at({ ...place, column: place.column + head * size });
        to.kernels.scale(source, from.stride, target, place.stride, rows(pass), size, 1);
      }
    });
    start += size;
  }
}

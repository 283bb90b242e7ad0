import type { Compiler, OpOf } from './compiler.ts';

/** Looks rows of a table up, in the encoding that it has. */
export function compileEmbed({ by, outputs: [output], weights: [table] }: OpOf<'embed'>, to: Compiler): void {
  const { kernels } = to;
  const placed = to.weight(table);
  const out = to.buffers.place(output);
  const ids = to.tokens[by];
  const { width } = output;
  const count = to.rowsOf(output);
  to.add((pass) => {
    const [rows, into, numTokens] = [to.at(ids), to.at(out), count(pass)];
    if (placed.encoding === 'float32') kernels.embedFloat(placed.address, rows, into, numTokens, width);
    else if (placed.encoding === 'int8') {
      kernels.embedInt8(placed.address, placed.scales, rows, into, numTokens, width);
      if (placed.rotation > 1) kernels.rotate(into, into, numTokens, width, placed.rotation);
    } else {
      const { address, scales, zeroPoints } = placed;
      kernels.embedInt4(address, scales, zeroPoints, rows, into, numTokens, width);
    }
  });
}

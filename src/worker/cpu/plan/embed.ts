import type { Compiler, OpOf } from './compiler.ts';
import type { Pass } from './pass.ts';

/** Looks rows of a table up, in the encoding that it has. */
export function compileEmbed({ by, outputs: [output], weights: [table] }: OpOf<'embed'>, to: Compiler): void {
  const { kernels } = to;
  const placed = to.weight(table);
  const out = to.buffers.place(output);
  const ids = to.tokens[by];
  const { width } = output;
  to.add(({ numTokens }: Pass) => {
    const [rows, into] = [to.at(ids), to.at(out)];
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

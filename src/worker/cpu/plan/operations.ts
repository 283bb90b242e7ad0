import type { Op, Value } from '../../models/program/program.ts';
import { ACTIVATION_KINDS } from '../kernels/kernels.ts';
import { compileAttend } from './attend.ts';
import { compileDeltaRule } from './delta-rule.ts';
import { compileSplit } from './split.ts';
import type { Compiler, OpOf } from './compiler.ts';
import { compileEmbed } from './embed.ts';
import { compileHead, compileLinear } from './linear.ts';
import type { Place } from './buffers.ts';
import { wantedOf } from './pass.ts';

type OpByKind = { readonly [K in Op['kind']]: OpOf<K> };

/** How each kind of operation becomes calls of kernels. */
const OPERATIONS: { readonly [K in Op['kind']]: (op: OpByKind[K], to: Compiler) => void } = {
  embed: compileEmbed,
  linear: compileLinear,
  attend: compileAttend,
  deltaRule: compileDeltaRule,
  split: compileSplit,
  head: compileHead,
  shortConv(op, to) {
    const [input, output, [kernel, bias]] = [op.inputs[0], op.outputs[0], op.weights];
    const [width = 0, , length = 0] = kernel.shape;
    const [x, out] = [to.buffers.placeOf(input), to.buffers.place(output)];
    const [weights, biases] = [to.address(kernel), to.address(bias)];
    const layer = to.layerOf(output);
    to.add(({ spans, state }) => {
      for (const { row, start, numTokens } of spans) {
        const [from, into, kept] = [to.at(x, start), to.at(out, start), state?.addressOf(layer, row) ?? 0];
        const shape = [numTokens, width, length] as const;
        to.kernels.shortConv(from, x.stride, kept, weights, biases, into, out.stride, ...shape);
      }
    });
  },
  norm(op, to) {
    const { inputs, outputs, weights, method, epsilon, gainOffset = 0 } = op;
    const [input, output, [gain, bias]] = [inputs[0], outputs[0], weights];
    const [width = 0] = gain.shape;
    const x = to.buffers.placeOf(input);
    const out = to.buffers.place(output, { input, by: op });
    const [gains, biases] = [to.address(gain), to.address(bias)];
    const { kernels } = to;
    const rows = to.rowsOf(input);
    to.add((pass) => {
      const [from, into, parts] = [to.at(x), to.at(out), input.width / width];
      const isCentered = method === 'rms' ? 0 : 1;
      kernels.normalize(
        from,
        x.stride,
        gains,
        biases,
        into,
        out.stride,
        rows(pass),
        parts,
        width,
        epsilon,
        gainOffset,
        isCentered,
      );
    });
  },
  rotary(op, to) {
    const tables = to.tablesOf(op.rope);
    const half = op.rope.frequencies.length;
    for (const [i, input] of op.inputs.entries()) {
      const output = op.outputs[i] ?? input;
      const place = ownPlace(op, input, output, to);
      const rows = to.rowsOf(input);
      to.add((pass) =>
        to.kernels.rotary(
          to.at(place),
          place.stride,
          to.at(to.tokens.position),
          tables.cos,
          tables.sin,
          rows(pass),
          input.width / op.headSize,
          op.headSize,
          half,
        ),
      );
    }
  },
  activation(op, to) {
    const [input, output] = [op.inputs[0], op.outputs[0]];
    const x = to.buffers.placeOf(input);
    const out = to.buffers.place(output, { input, by: op });
    const kind = ACTIVATION_KINDS[op.activation];
    const rows = to.rowsOf(input);
    to.add((pass) =>
      to.kernels.activate(to.at(x), x.stride, to.at(out), out.stride, rows(pass), input.width, kind),
    );
  },
  add: (op, to) => combine(0, op, to),
  multiply: (op, to) => combine(1, op, to),
  scale(op, to) {
    const [input, output] = [op.inputs[0], op.outputs[0]];
    const x = to.buffers.placeOf(input);
    const out = to.buffers.place(output, { input, by: op });
    const rows = to.rowsOf(input);
    to.add((pass) =>
      to.kernels.scale(to.at(x), x.stride, to.at(out), out.stride, rows(pass), input.width, op.factor),
    );
  },
  pool(op, to) {
    const [input, output] = [op.inputs[0], op.outputs[0]];
    const x = to.buffers.placeOf(input);
    const out = to.buffers.place(output);
    to.add((pass) => {
      for (const [text, { tokens, row }] of wantedOf(pass).entries()) {
        const shares = to.at(to.tokens.share, row);
        to.kernels.pool(to.at(x, row), x.stride, shares, to.at(out, text), tokens.length, input.width);
      }
    });
  },
};

/** Adds the steps of an operation. */
export function compileOp(op: Op, to: Compiler): void {
  compileKind(op.kind, op, to);
  to.buffers.endOp(op);
}

function compileKind<K extends Op['kind']>(kind: K, op: OpByKind[K], to: Compiler): void {
  OPERATIONS[kind](op, to);
}

function combine(isProduct: 0 | 1, op: OpOf<'add' | 'multiply'>, to: Compiler): void {
  const [first, second] = op.inputs;
  const [a, b] = [to.buffers.placeOf(first), to.buffers.placeOf(second)];
  const out = to.buffers.place(op.outputs[0], { input: first, by: op });
  const rows = to.rowsOf(first);
  to.add((pass) =>
    to.kernels.combine(
      to.at(a),
      a.stride,
      to.at(b),
      b.stride,
      to.at(out),
      out.stride,
      rows(pass),
      first.width,
      isProduct,
    ),
  );
}

/** The place of an output that a kernel changes in place: the input's, or that of a copy if the input is read later. */
function ownPlace(op: Op, input: Value, output: Value, to: Compiler): Place {
  const from = to.buffers.placeOf(input);
  const place = to.buffers.place(output, { input, by: op });
  if (place !== from) to.copy(input, from, place);
  return place;
}

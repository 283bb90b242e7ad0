import type { LayerState } from './layer-state.ts';
import type { Op, Program } from './program.ts';

/** The state of each layer. None where the output is per text: such a model reads whole texts. */
export function layerStatesOf({ ops, output }: Pick<Program, 'ops' | 'output'>): readonly LayerState[] {
  if (output.per === 'text') return [];
  const layers = ops.flatMap((op) => {
    const state = stateOf(op);
    return state ? [{ op, state }] : [];
  });
  return layers.map(({ op, state }, index) => {
    const layer = layers.findIndex((other) => haveSameKeys(other.op, op));
    return layer < 0 || layer === index ? state : { kind: 'shared', layer };
  });
}

/** What one operation keeps of a row: the only place that a new kind of operation is named in. */
function stateOf(op: Op): LayerState | undefined {
  if (op.kind !== 'attend' || !op.isCausal) return undefined;
  const { numKvHeads, headSize } = op.heads;
  return { kind: 'tokens', numKvHeads, headSize, window: op.window };
}

function haveSameKeys(a: Op, b: Op): boolean {
  return a.kind === 'attend' && b.kind === 'attend' && a.inputs[1] === b.inputs[1];
}

import type { LayerState } from './layer-state.ts';
import type { Op, Value } from './program.ts';

/** An operation of a layer, and what it keeps of a row. */
export interface StatefulOp {
  readonly op: Op;
  readonly state: LayerState;
}

/** The state of each layer. None where the output is per text: such a model reads whole texts. */
export function layerStatesOf(layers: readonly StatefulOp[], output: Value): readonly LayerState[] {
  if (output.per === 'text') return [];
  return layers.map(({ op, state }, index) => {
    const layer = layers.findIndex((other) => haveSameKeys(other.op, op));
    return layer < 0 || layer === index ? state : { kind: 'shared', layer };
  });
}

function haveSameKeys(a: Op, b: Op): boolean {
  return a.kind === 'attend' && b.kind === 'attend' && a.inputs[1] === b.inputs[1];
}

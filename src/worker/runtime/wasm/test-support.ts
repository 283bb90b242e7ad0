import { OnnxNodes } from '../../models/onnx/onnx-nodes.ts';
import { encodeOnnxModel, type OnnxValue } from '../../models/onnx/onnx-proto.ts';

const VECTOR = { type: 'float32', dims: ['N'] } as const;
const value = (name: string): OnnxValue => ({ name, ...VECTOR });

const nodes = new OnnxNodes();
nodes.add('Neg', ['x'], ['y']);
/** A graph whose output `y` is its input `x`, negated: [N]. */
export const NEGATION = encodeOnnxModel({
  name: 'negation',
  nodes: nodes.all,
  inputs: [value('x')],
  outputs: [value('y')],
  initializers: [],
});

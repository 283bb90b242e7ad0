import { UnsupportedModelError } from '../../protocol/errors/model.ts';
import type { OnnxNodes } from './onnx-nodes.ts';
import type { OnnxNode } from './onnx-proto.ts';

export type Activation = 'gelu_tanh' | 'gelu_erf' | 'quick_gelu' | 'relu' | 'silu' | 'tanh' | 'sigmoid';

/** By the names in huggingface/transformers. */
const ACTIVATIONS: ReadonlyMap<unknown, Activation> = new Map<unknown, Activation>([
  ['gelu_new', 'gelu_tanh'],
  ['gelu_pytorch_tanh', 'gelu_tanh'],
  ['gelu_python_tanh', 'gelu_tanh'],
  ['gelu_fast', 'gelu_tanh'],
  ['gelu_accurate', 'gelu_tanh'],
  ['gelu', 'gelu_erf'],
  ['gelu_python', 'gelu_erf'],
  ['quick_gelu', 'quick_gelu'],
  ['relu', 'relu'],
  ['silu', 'silu'],
  ['swish', 'silu'],
  ['tanh', 'tanh'],
  ['sigmoid', 'sigmoid'],
]);

/** @throws UnsupportedModelError where the graph has no such activation. */
export function readActivation(field: string, name: unknown): Activation {
  const activation = ACTIVATIONS.get(name);
  if (activation) return activation;
  const known = [...ACTIVATIONS.keys()].join(', ');
  throw UnsupportedModelError.of(`${field} ${JSON.stringify(name)} is not one of ${known}`);
}

/** The operators of ONNX and ONNX Runtime; some add the bias themselves. */
const OPERATORS: Readonly<
  Record<Activation, Pick<OnnxNode, 'opType' | 'domain' | 'attributes'> & { readonly addsBias: boolean }>
> = {
  gelu_tanh: { opType: 'FastGelu', domain: 'com.microsoft', addsBias: true },
  gelu_erf: { opType: 'BiasGelu', domain: 'com.microsoft', addsBias: true },
  quick_gelu: quickGelu(1.702),
  silu: quickGelu(1),
  relu: { opType: 'Relu', domain: '', addsBias: false },
  tanh: { opType: 'Tanh', domain: '', addsBias: false },
  sigmoid: { opType: 'Sigmoid', domain: '', addsBias: false },
};

function quickGelu(alpha: number) {
  const attributes = { alpha: { float: alpha } };
  return { opType: 'QuickGelu', domain: 'com.microsoft', attributes, addsBias: false } as const;
}

/** output = activation(input + bias) */
export function addActivation(
  nodes: OnnxNodes,
  activation: Activation,
  { input, bias, output }: { readonly input: string; readonly bias: string; readonly output: string },
): void {
  const { addsBias, ...operator } = OPERATORS[activation];
  const sum = `${input}.sum`;
  if (!addsBias) nodes.add('Add', [input, bias], [sum]);
  nodes.push({ ...operator, inputs: addsBias ? [input, bias] : [sum], outputs: [output] });
}

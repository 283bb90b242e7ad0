import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
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

type Operator = Pick<OnnxNode, 'opType' | 'domain' | 'attributes'>;

/** The operators of ONNX and ONNX Runtime. `withBias` adds the bias itself; not every activation has such an operator. */
const OPERATORS: Readonly<
  Record<Activation, { readonly withBias?: Operator; readonly withoutBias: Operator }>
> = {
  gelu_tanh: { withBias: fused('FastGelu'), withoutBias: fused('FastGelu') },
  gelu_erf: { withBias: fused('BiasGelu'), withoutBias: fused('Gelu') },
  quick_gelu: { withoutBias: quickGelu(1.702) },
  silu: { withoutBias: quickGelu(1) },
  relu: { withoutBias: { opType: 'Relu', domain: '' } },
  tanh: { withoutBias: { opType: 'Tanh', domain: '' } },
  sigmoid: { withoutBias: { opType: 'Sigmoid', domain: '' } },
};

function fused(opType: string): Operator {
  return { opType, domain: 'com.microsoft' };
}

function quickGelu(alpha: number): Operator {
  return { ...fused('QuickGelu'), attributes: { alpha: { float: alpha } } };
}

/** output = activation(input + bias); a bias of '' adds nothing. */
export function addActivation(
  nodes: OnnxNodes,
  activation: Activation,
  { input, bias, output }: { readonly input: string; readonly bias: string; readonly output: string },
): void {
  const { withBias, withoutBias } = OPERATORS[activation];
  if (bias !== '' && withBias) {
    nodes.push({ ...withBias, inputs: [input, bias], outputs: [output] });
    return;
  }
  const sum = bias === '' ? input : `${input}.sum`;
  if (bias !== '') nodes.add('Add', [input, bias], [sum]);
  nodes.push({ ...withoutBias, inputs: [sum], outputs: [output] });
}

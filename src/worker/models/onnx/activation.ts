import type { Activation } from '../program/activation.ts';
import type { OnnxNode } from './onnx-proto.ts';

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

/** Whether the operator of an activation adds a bias. */
export function canAddBias(activation: Activation): boolean {
  return OPERATORS[activation].withBias !== undefined;
}

/** output = activation(input + bias) */
export function activationNode(
  activation: Activation,
  {
    input,
    bias,
    output,
  }: { readonly input: string; readonly bias: string | undefined; readonly output: string },
): OnnxNode {
  const { withBias, withoutBias } = OPERATORS[activation];
  if (bias === undefined || !withBias) return { ...withoutBias, inputs: [input], outputs: [output] };
  return { ...withBias, inputs: [input, bias], outputs: [output] };
}

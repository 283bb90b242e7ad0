import { UnsupportedModelError } from '../../../protocol/errors/model.ts';

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

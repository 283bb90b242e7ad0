import { plainTensor, wordTensors } from '../program/model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { Program, Value } from '../program/program.ts';
import type { Gpt2Config } from './config.ts';

const CONV1D = { role: 'conv1d', hasBias: true } as const;
const SENSITIVE = { ...CONV1D, isSensitive: true } as const;

export function gpt2Program(config: Gpt2Config): Program {
  const { vocabSize, contextLength, embeddingSize, attentionScales, isHeadSeparate } = config;
  const model = new ProgramBuilder();
  const norm = (x: Value, name: string): Value =>
    model.norm(x, name, { method: 'layer', epsilon: config.layerNormEpsilon });

  const { words, head } = wordTensors('wte.weight', [vocabSize, embeddingSize], isHeadSeparate);
  const tokens = model.embed('token', words);
  let x = model.add(model.embed('position', plainTensor('wpe.weight', contextLength, embeddingSize)), tokens);
  for (const [layer, scale] of attentionScales.entries()) {
    const h = `h.${layer}`;
    x = model.add(x, attention(model, norm(x, `${h}.ln_1`), `${h}.attn`, config, scale));
    x = model.add(x, mlp(model, norm(x, `${h}.ln_2`), `${h}.mlp`, config));
  }
  return model.end(model.head(norm(x, 'ln_f'), head));
}

function attention(model: ProgramBuilder, x: Value, attn: string, config: Gpt2Config, scale: number): Value {
  const qkv = model.qkv(x, `${attn}.c_attn`, config, SENSITIVE);
  const attended = model.attend(qkv, attn, config, { scale, isCausal: true });
  return model.linear(attended, `${attn}.c_proj`, config.embeddingSize, CONV1D);
}

function mlp(
  model: ProgramBuilder,
  x: Value,
  name: string,
  { innerSize, embeddingSize, activation }: Gpt2Config,
): Value {
  const inner = model.activation(model.linear(x, `${name}.c_fc`, innerSize, CONV1D), activation);
  return model.linear(inner, `${name}.c_proj`, embeddingSize, SENSITIVE);
}

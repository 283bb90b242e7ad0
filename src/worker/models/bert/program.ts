import { plainTensor } from '../program/model-config.ts';
import { ProgramBuilder } from '../program/program-builder.ts';
import type { Program, Value } from '../program/program.ts';
import type { BertConfig } from './config.ts';

const hasBias = true;

/** Norms come after the sums, so the normalized values are the residual stream. */
export function bertProgram(config: BertConfig): Program {
  const { vocabSize, width, numPositions, numTypes, numLayers, encoder } = config;
  const model = new ProgramBuilder();
  const norm = (x: Value, name: string): Value =>
    model.norm(x, name, { method: 'layer', epsilon: config.normEpsilon });

  const words = model.embed('token', {
    name: 'embeddings.word_embeddings.weight',
    shape: [vocabSize, width],
    role: 'embedding',
  });
  const positions = model.embed(
    'position',
    plainTensor('embeddings.position_embeddings.weight', numPositions, width),
  );
  const types = model.embed('type', plainTensor('embeddings.token_type_embeddings.weight', numTypes, width));
  let x = norm(model.add(model.add(positions, types), words), 'embeddings.LayerNorm');
  for (let layer = 0; layer < numLayers; layer++) {
    const name = `encoder.layer.${layer}`;
    x = norm(
      model.add(x, attention(model, x, `${name}.attention`, config)),
      `${name}.attention.output.LayerNorm`,
    );
    x = norm(model.add(x, mlp(model, x, name, config)), `${name}.output.LayerNorm`);
  }
  const pooled = model.pool(x);
  if (encoder.task === 'embed') return model.end(pooled);
  const pooler = model.activation(model.linear(pooled, 'pooler.dense', width, { hasBias }), 'tanh');
  // Checkpoints have it without the prefix.
  return model.end(model.linear(pooler, 'classifier', 1, { hasBias }));
}

function attention(model: ProgramBuilder, x: Value, name: string, config: BertConfig): Value {
  const parts = ['query', 'key', 'value'].map((part) => `${name}.self.${part}`);
  const qkv = model.qkv(x, `${name}.self.qkv`, config, { hasBias, parts });
  const attended = model.attend(qkv, name, config, {
    scale: 1 / Math.sqrt(config.headSize),
    isCausal: false,
  });
  return model.linear(attended, `${name}.output.dense`, config.width, { hasBias });
}

function mlp(model: ProgramBuilder, x: Value, name: string, config: BertConfig): Value {
  const { innerSize, width, activation } = config;
  const inner = model.linear(x, `${name}.intermediate.dense`, innerSize, { hasBias });
  return model.linear(model.activation(inner, activation), `${name}.output.dense`, width, { hasBias });
}

import wordPieceTokenizer from './bert-tokenizer.json' with { type: 'json' };
import { DECODERS } from './decoders.ts';
import specs from './encoders.json' with { type: 'json' };
import { generateCheckpoint, withJson, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { bell, type GeneratedTensor } from './generated-tensor.ts';
import { byteTokenizer } from './tokenizer.ts';

type BertSpec = Pick<typeof specs.bert, 'config' | 'prefix' | 'seed'> & { readonly files: object };

/** Models that read whole texts, by their ids, with the files of sentence-transformers. */
export const ENCODERS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map([
  ['generated/bert', () => bertCheckpoint(specs.bert)],
  ['generated/cross-encoder', () => bertCheckpoint(specs['cross-encoder'])],
  ['generated/qwen3-embedding', qwen3Embedding],
]);

/** As Qwen 3's embedding models: an end token behind each text, whose hidden state is the vector. */
function qwen3Embedding(): GeneratedCheckpoint {
  const { files, postProcessor } = specs['qwen3-embedding'];
  const decoder = DECODERS.get('generated/qwen3')?.() ?? new Map();
  const tokenizer = { ...byteTokenizer(320), post_processor: postProcessor };
  return withJson(decoder, { 'tokenizer.json': tokenizer, ...files });
}

function bertCheckpoint(spec: BertSpec): GeneratedCheckpoint {
  const checkpoint = new Map(
    generateCheckpoint({
      config: spec.config,
      generationConfig: {},
      tokenizerConfig: specs.tokenizerConfig,
      tensors: bertTensors(spec).map((tensor) => ({ ...tensor, seed: spec.seed })),
    }),
  );
  checkpoint.delete('generation_config.json');
  return withJson(checkpoint, { 'tokenizer.json': wordPieceTokenizer, ...spec.files });
}

function bertTensors({ config, prefix }: BertSpec): readonly GeneratedTensor[] {
  const { hidden_size: width, intermediate_size: inner } = config;
  const embeddings = `${prefix}embeddings`;
  const norm = (name: string) => [
    values(`${name}.weight`, [width], 1 / 8, 1),
    values(`${name}.bias`, [width], 1 / 8),
  ];
  const layers = Array.from({ length: config.num_hidden_layers }, (_, index) => {
    const layer = `${prefix}encoder.layer.${index}`;
    return [
      ...linear(`${layer}.attention.self.query`, width, width, 1.2),
      ...linear(`${layer}.attention.self.key`, width, width, 1.2),
      ...linear(`${layer}.attention.self.value`, width, width),
      ...linear(`${layer}.attention.output.dense`, width, width),
      ...norm(`${layer}.attention.output.LayerNorm`),
      ...linear(`${layer}.intermediate.dense`, inner, width),
      ...linear(`${layer}.output.dense`, width, inner),
      ...norm(`${layer}.output.LayerNorm`),
    ];
  });
  return [
    values(`${embeddings}.word_embeddings.weight`, [config.vocab_size, width], 1),
    values(`${embeddings}.position_embeddings.weight`, [config.max_position_embeddings, width], 0.5),
    values(`${embeddings}.token_type_embeddings.weight`, [config.type_vocab_size, width], 0.5),
    ...norm(`${embeddings}.LayerNorm`),
    ...layers.flat(),
    ...linear(`${prefix}pooler.dense`, width, width),
    // The head of a cross-encoder, whose base has a name.
    ...(prefix === '' ? [] : linear('classifier', 1, width, 2)),
  ];
}

function linear(name: string, outputSize: number, inputSize: number, scale = 1): readonly GeneratedTensor[] {
  return [
    values(`${name}.weight`, [outputSize, inputSize], scale / Math.sqrt(inputSize)),
    values(`${name}.bias`, [outputSize], scale / 4),
  ];
}

function values(name: string, shape: readonly number[], deviation: number, center = 0): GeneratedTensor {
  return bell('F32', name, shape, deviation, center);
}

import { DECODERS } from './decoders.ts';
import { generateCheckpoint, type GeneratedCheckpoint } from './generated-checkpoint.ts';
import { jsonFile } from './generated-file.ts';
import type { GeneratedTensor } from './generated-tensor.ts';
import { byteTokenizer } from './tokenizer.ts';

const WIDTH = 96;
const INNER = 192;
const NUM_LAYERS = 3;

const SPECIAL_TOKENS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];
/** Words, characters and their pieces, so that some words have several tokens. */
const VOCABULARY = [
  ...SPECIAL_TOKENS,
  ...'the quick brown fox jump over lazy dog while seven wizard search for a text in of and'.split(' '),
  '##s',
  '##ed',
  '##ing',
  '##er',
  ...Array.from('abcdefghijklmnopqrstuvwxyz0123456789.,!?-é日本'),
  ...Array.from('abcdefghijklmnopqrstuvwxyz0123456789', (character) => `##${character}`),
].filter((token, at, all) => all.indexOf(token) === at);

const BERT = {
  model_type: 'bert',
  attention_probs_dropout_prob: 0.1,
  hidden_act: 'gelu',
  hidden_dropout_prob: 0.1,
  hidden_size: WIDTH,
  initializer_range: 0.02,
  intermediate_size: INNER,
  layer_norm_eps: 1e-12,
  max_position_embeddings: 128,
  num_attention_heads: 4,
  num_hidden_layers: NUM_LAYERS,
  pad_token_id: 0,
  position_embedding_type: 'absolute',
  type_vocab_size: 2,
  vocab_size: VOCABULARY.length,
} as const;

const special = (content: string) => ({ SpecialToken: { id: content, type_id: 0 } });

/** As the hub's BERT, uncased. */
function wordPieceTokenizer(): unknown {
  const first = { Sequence: { id: 'A', type_id: 0 } };
  const id = (content: string): number => VOCABULARY.indexOf(content);
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIAL_TOKENS.map((content) => ({
      id: id(content),
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), first, special('[SEP]')],
      pair: [
        special('[CLS]'),
        first,
        special('[SEP]'),
        { Sequence: { id: 'B', type_id: 1 } },
        { SpecialToken: { id: '[SEP]', type_id: 1 } },
      ],
      special_tokens: Object.fromEntries(
        ['[CLS]', '[SEP]'].map((content) => [
          content,
          { id: content, ids: [id(content)], tokens: [content] },
        ]),
      ),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(VOCABULARY.map((token, at) => [token, at])),
    },
  };
}

function bertCheckpoint(
  config: object,
  { prefix, seed, files = {} }: { readonly prefix: string; readonly seed: number; readonly files?: object },
): GeneratedCheckpoint {
  const isCrossEncoder = prefix !== '';
  const checkpoint = generateCheckpoint({
    config: { ...BERT, ...config },
    generationConfig: {},
    tokenizerConfig: {
      tokenizer_class: 'BertTokenizer',
      do_lower_case: true,
      model_max_length: BERT.max_position_embeddings,
      cls_token: '[CLS]',
      sep_token: '[SEP]',
      pad_token: '[PAD]',
      unk_token: '[UNK]',
      mask_token: '[MASK]',
    },
    tensors: bertTensors(prefix, isCrossEncoder).map((tensor) => ({ ...tensor, seed })),
  });
  return new Map([
    ...[...checkpoint].filter(([name]) => name !== 'generation_config.json'),
    ['tokenizer.json', jsonFile(wordPieceTokenizer())],
    ...Object.entries(files).map(([name, content]) => [name, jsonFile(content)] as const),
  ]);
}

function bertTensors(prefix: string, isCrossEncoder: boolean): readonly GeneratedTensor[] {
  const layers = Array.from({ length: NUM_LAYERS }, (_, layer) => {
    const name = `${prefix}encoder.layer.${layer}`;
    return [
      ...['query', 'key', 'value'].flatMap((part) =>
        linear(`${name}.attention.self.${part}`, WIDTH, WIDTH, part === 'value' ? 1 : 1.2),
      ),
      ...linear(`${name}.attention.output.dense`, WIDTH, WIDTH, 1),
      ...norm(`${name}.attention.output.LayerNorm`),
      ...linear(`${name}.intermediate.dense`, INNER, WIDTH, 1),
      ...linear(`${name}.output.dense`, WIDTH, INNER, 1),
      ...norm(`${name}.output.LayerNorm`),
    ];
  });
  const embeddings = `${prefix}embeddings`;
  return [
    values(`${embeddings}.word_embeddings.weight`, [VOCABULARY.length, WIDTH], 1),
    values(`${embeddings}.position_embeddings.weight`, [BERT.max_position_embeddings, WIDTH], 0.5),
    values(`${embeddings}.token_type_embeddings.weight`, [2, WIDTH], 0.5),
    ...norm(`${embeddings}.LayerNorm`),
    ...layers.flat(),
    ...linear(`${prefix}pooler.dense`, WIDTH, WIDTH, 1),
    ...(isCrossEncoder ? linear('classifier', 1, WIDTH, 2) : []),
  ];
}

function linear(name: string, outputSize: number, inputSize: number, scale: number): GeneratedTensor[] {
  return [
    values(`${name}.weight`, [outputSize, inputSize], scale / Math.sqrt(inputSize)),
    values(`${name}.bias`, [outputSize], scale / 4),
  ];
}

function norm(name: string): GeneratedTensor[] {
  return [values(`${name}.weight`, [WIDTH], 1 / 8, 1), values(`${name}.bias`, [WIDTH], 1 / 8)];
}

function values(name: string, shape: readonly number[], deviation: number, center = 0): GeneratedTensor {
  return { name, dtype: 'F32', shape, fill: { kind: 'normal', center, deviation } };
}

/** The files of sentence-transformers. */
function sentenceFiles(width: number, pooling: string, prompts: object, modules: readonly string[]): object {
  const modes = ['cls_token', 'mean_tokens', 'max_tokens', 'mean_sqrt_len_tokens', 'lasttoken'];
  return {
    'modules.json': modules.map((name, idx) => ({
      idx,
      name: String(idx),
      path: name === 'Transformer' ? '' : `${idx}_${name}`,
      type: `sentence_transformers.models.${name}`,
    })),
    '1_Pooling/config.json': {
      word_embedding_dimension: width,
      ...Object.fromEntries(modes.map((mode) => [`pooling_mode_${mode}`, mode === pooling])),
    },
    'sentence_bert_config.json': { max_seq_length: 96, do_lower_case: false },
    'config_sentence_transformers.json': { prompts, default_prompt_name: null },
  };
}

/** As Qwen 3's embedding models: an end token behind each text, whose hidden state is the vector. */
function qwen3Embedding(): GeneratedCheckpoint {
  const decoder = DECODERS.get('generated/qwen3')?.() ?? new Map();
  const width = 96;
  const end = '<|endoftext|>';
  const tokenizer = byteTokenizer(320);
  const withEnd = {
    type: 'TemplateProcessing',
    single: [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: end, type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
    special_tokens: { [end]: { id: end, ids: [319], tokens: [end] } },
  };
  const files = sentenceFiles(width, 'lasttoken', { query: 'Instruct: find\nQuery: ', document: '' }, [
    'Transformer',
    'Pooling',
    'Normalize',
  ]);
  return new Map([
    ...decoder,
    ['tokenizer.json', jsonFile({ ...Object(tokenizer), post_processor: withEnd })],
    ...Object.entries(files).map(([name, content]) => [name, jsonFile(content)] as const),
  ]);
}

/** Models that read whole texts, by their ids. */
export const ENCODERS: ReadonlyMap<string, () => GeneratedCheckpoint> = new Map([
  [
    'generated/bert',
    () =>
      bertCheckpoint(
        { architectures: ['BertModel'] },
        {
          prefix: '',
          seed: 3,
          files: sentenceFiles(WIDTH, 'mean_tokens', { query: 'search for a text: ' }, [
            'Transformer',
            'Pooling',
            'Normalize',
          ]),
        },
      ),
  ],
  [
    'generated/cross-encoder',
    () =>
      bertCheckpoint(
        {
          architectures: ['BertForSequenceClassification'],
          id2label: { 0: 'LABEL_0' },
          label2id: { LABEL_0: 0 },
        },
        { prefix: 'bert.', seed: 4 },
      ),
  ],
  ['generated/qwen3-embedding', qwen3Embedding],
]);

import { ModelFileCorruptError } from '../../../protocol/errors/model.ts';

/** A piece of a text in the template of special tokens, as huggingface/tokenizers writes it. */
type Piece =
  | { readonly Sequence: { readonly id: 'A' | 'B'; readonly type_id: number } }
  | { readonly SpecialToken: { readonly id: string; readonly type_id: number } };

const SPECIAL_TOKENS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'];

/**
 * The `tokenizer.json` of BERT's `vocab.txt`, which has a token a line, as huggingface/transformers makes it.
 *
 * @throws ModelFileCorruptError.
 */
export function wordPieceTokenizer(vocabulary: string, config: Readonly<Record<string, unknown>>): unknown {
  const tokens = vocabulary.split(/\r?\n/);
  if (tokens.at(-1) === '') tokens.pop();
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  for (const token of ['[UNK]', '[CLS]', '[SEP]'])
    if (!Object.hasOwn(vocab, token)) throw ModelFileCorruptError.of('vocab.txt', `it has no line ${token}`);
  const { do_lower_case: lowercase = true, tokenize_chinese_chars: isChineseApart = true } = config;
  return {
    version: '1.0',
    added_tokens: SPECIAL_TOKENS.filter((token) => Object.hasOwn(vocab, token)).map((content) => ({
      id: vocab[content],
      content,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: isChineseApart,
      strip_accents: config['strip_accents'] ?? null,
      lowercase,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: templateOf(vocab),
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab,
    },
  };
}

function templateOf(vocab: Readonly<Record<string, number>>): unknown {
  const single = [special('[CLS]', 0), sequence('A', 0), special('[SEP]', 0)];
  return {
    type: 'TemplateProcessing',
    single,
    pair: [...single, sequence('B', 1), special('[SEP]', 1)],
    special_tokens: Object.fromEntries(
      ['[CLS]', '[SEP]'].map((content) => [
        content,
        { id: content, ids: [vocab[content]], tokens: [content] },
      ]),
    ),
  };
}

function sequence(id: 'A' | 'B', type: number): Piece {
  return { Sequence: { id, type_id: type } };
}

function special(id: string, type: number): Piece {
  return { SpecialToken: { id, type_id: type } };
}

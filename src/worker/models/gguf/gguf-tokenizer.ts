import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import type { Fields } from '../config-fields.ts';
import type { GgufHeader } from './read-gguf.ts';

/** `tokenizer.ggml.token_type`, as llama.cpp numbers it. */
const TOKEN_TYPE = { control: 3, userDefined: 4 } as const;

const SPACE = '▁';

const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: false, use_regex: true };
const BYTES_ONLY = { ...BYTE_LEVEL, use_regex: false };

const splitBy = (regex: string) => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
});

/** Llama 3's split; Qwen's has single digits, and of Qwen 3.5 on marks beside letters. */
const splitAt = (digits: string, letters = '\\p{L}') =>
  splitBy(
    `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[${letters}]+|${digits}| ?[^\\s${letters}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  );

/** Words end where capital letters follow small ones. */
const splitAtCapitals = (ending: string, digits: string) => {
  const before = String.raw`[^\r\n\p{L}\p{N}]?`;
  const [large, small] = [String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`];
  const words = `${before}${large}*${small}+${ending}|${before}${large}+${small}*${ending}`;
  return splitBy(String.raw`${words}|${digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`);
};

interface Splitting {
  readonly normalizer?: Fields;
  readonly preTokenizer: Fields;
  /** Whether a token that is a whole piece is taken without merging. */
  readonly ignoreMerges?: true;
  /** Whether llama.cpp puts the first token before a text although the metadata doesn't say so. */
  readonly addsBos?: true;
}

const GPT2: Splitting = { preTokenizer: BYTE_LEVEL };
/** The pattern of GPT-4's tokenizer. */
const CL100K: Splitting = {
  preTokenizer: { type: 'Sequence', pretokenizers: [splitAt('\\p{N}{1,3}'), BYTES_ONLY] },
};
const LLAMA3: Splitting = { ...CL100K, ignoreMerges: true, addsBos: true };
const SMOLLM: Splitting = {
  preTokenizer: {
    type: 'Sequence',
    pretokenizers: [{ type: 'Digits', individual_digits: true }, BYTE_LEVEL],
  },
};

/** By `tokenizer.ggml.pre`: how a text is cut before its pieces are merged. */
const SPLITTINGS: ReadonlyMap<string, Splitting> = new Map<string, Splitting>([
  ['default', GPT2],
  ['gpt-2', GPT2],
  ['smollm', SMOLLM],
  ['refact', SMOLLM],
  ['dbrx', CL100K],
  ['smaug-bpe', CL100K],
  [
    'gpt-4o',
    {
      preTokenizer: {
        type: 'Sequence',
        pretokenizers: [splitAtCapitals("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", String.raw`\p{N}{1,3}`), BYTES_ONLY],
      },
    },
  ],
  [
    'tekken',
    {
      preTokenizer: {
        type: 'Sequence',
        pretokenizers: [splitAtCapitals('', String.raw`\p{N}`), BYTES_ONLY],
      },
      ignoreMerges: true,
      addsBos: true,
    },
  ],
  ['llama-bpe', LLAMA3],
  ['llama3', LLAMA3],
  ['lfm2', LLAMA3],
  [
    'qwen35',
    {
      normalizer: { type: 'NFC' },
      preTokenizer: {
        type: 'Sequence',
        pretokenizers: [splitAt('\\p{N}', '\\p{L}\\p{M}'), BYTES_ONLY],
      },
    },
  ],
  [
    'qwen2',
    {
      normalizer: { type: 'NFC' },
      preTokenizer: { type: 'Sequence', pretokenizers: [splitAt('\\p{N}'), BYTES_ONLY] },
    },
  ],
]);

interface Tokens {
  readonly fileName: string;
  readonly tokens: readonly string[];
  readonly metadata: GgufHeader['metadata'];
}

/**
 * The `tokenizer.json` and `tokenizer_config.json` of a checkpoint with this metadata.
 *
 * @throws ModelFileCorruptError without a vocabulary; UnsupportedModelError for a tokenizer that is neither byte-level BPE nor
 *   SentencePiece's, or cuts texts in a way that is not known.
 */
export function tokenizerOf(
  { metadata }: GgufHeader,
  fileName: string,
): { readonly tokenizer: Fields; readonly tokenizerConfig: Fields } {
  const tokens = stringsOf(metadata['tokenizer.ggml.tokens']);
  if (tokens.length === 0) throw ModelFileCorruptError.of(fileName, 'it has no tokenizer');
  const model = metadata['tokenizer.ggml.model'];
  const given: Tokens = { fileName, tokens, metadata };
  if (model !== 'gpt2' && model !== 'llama') {
    throw UnsupportedModelError.of(
      `${fileName} has a tokenizer of type ${nameOf(model)}, which is neither gpt2 nor llama`,
    );
  }
  const { tokenizer, addsBos } = model === 'gpt2' ? byteLevelBpe(given) : sentencePiece(given);
  return {
    tokenizer: { ...tokenizer, added_tokens: addedTokens(given), post_processor: templateOf(given, addsBos) },
    tokenizerConfig: {
      ...Object.fromEntries(
        ['bos', 'eos', 'unk'].map((name) => [`${name}_token`, tokenOf(given, name) ?? null]),
      ),
      chat_template: metadata['tokenizer.chat_template'] ?? null,
    },
  };
}

interface Encoding {
  readonly tokenizer: Fields;
  /** Whether a text begins with the first token where the metadata does not say. */
  readonly addsBos: boolean;
}

function byteLevelBpe({ metadata, tokens, fileName }: Tokens): Encoding {
  const pre = nameOf(metadata['tokenizer.ggml.pre'] ?? 'default');
  const splitting = SPLITTINGS.get(pre);
  if (!splitting) {
    const known = [...SPLITTINGS.keys()].join(', ');
    throw UnsupportedModelError.of(
      `${fileName} cuts texts by the rules of ${pre}, and those of ${known} are known`,
    );
  }
  const { normalizer = null, preTokenizer, ignoreMerges = false, addsBos = false } = splitting;
  const merges = stringsOf(metadata['tokenizer.ggml.merges']);
  return {
    tokenizer: {
      normalizer,
      pre_tokenizer: preTokenizer,
      decoder: BYTE_LEVEL,
      model: { type: 'BPE', ignore_merges: ignoreMerges, vocab: vocabularyOf(tokens), merges },
    },
    addsBos,
  };
}

function sentencePiece(given: Tokens): Encoding {
  const { metadata, tokens } = given;
  const isPrefixed = metadata['tokenizer.ggml.add_space_prefix'] !== false;
  const replace = { type: 'Replace', pattern: { String: ' ' }, content: SPACE };
  const restore = { type: 'Replace', pattern: { String: SPACE }, content: ' ' };
  const strip = { type: 'Strip', content: ' ', start: 1, stop: 0 };
  return {
    tokenizer: {
      normalizer: isPrefixed
        ? { type: 'Sequence', normalizers: [{ type: 'Prepend', prepend: SPACE }, replace] }
        : replace,
      decoder: {
        type: 'Sequence',
        decoders: [restore, { type: 'ByteFallback' }, { type: 'Fuse' }, ...(isPrefixed ? [strip] : [])],
      },
      model: {
        type: 'BPE',
        byte_fallback: true,
        fuse_unk: true,
        unk_token: tokenOf(given, 'unk') ?? null,
        vocab: vocabularyOf(tokens),
        merges: mergesOf(tokens, numbersOf(metadata['tokenizer.ggml.scores'])),
      },
    },
    addsBos: true,
  };
}

/**
 * SentencePiece has a score per token in place of merges: the pair whose joint token has the highest score is merged first. The
 * order among equal scores is that of huggingface/transformers.
 */
function mergesOf(
  tokens: readonly string[],
  scores: readonly number[],
): readonly (readonly [string, string])[] {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const merges = tokens.flatMap((token, id) =>
    Array.from(
      { length: Math.max(0, token.length - 1) },
      (_, i) => [token.slice(0, i + 1), token.slice(i + 1)] as const,
    )
      .map(([left, right]) => ({
        left,
        right,
        leftId: ids.get(left),
        rightId: ids.get(right),
        score: scores[id] ?? 0,
      }))
      .filter(({ leftId, rightId }) => leftId !== undefined && rightId !== undefined)
      .toSorted((a, b) => (a.leftId ?? 0) - (b.leftId ?? 0) || (a.rightId ?? 0) - (b.rightId ?? 0)),
  );
  return merges
    .toSorted((a, b) => b.score - a.score || b.left.length - a.left.length || b.right.length - a.right.length)
    .map(({ left, right }) => [left, right]);
}

function addedTokens({ metadata, tokens }: Tokens): readonly Fields[] {
  const types = numbersOf(metadata['tokenizer.ggml.token_type']);
  return tokens.flatMap((content, id) => {
    const special = types[id] === TOKEN_TYPE.control;
    return special || types[id] === TOKEN_TYPE.userDefined
      ? [{ id, content, special, normalized: false }]
      : [];
  });
}

/** Puts the first and the last token around a text, as far as the metadata asks for it. */
function templateOf(given: Tokens, addsBos: boolean): Fields | null {
  const { metadata } = given;
  const isAsked = (name: string, fallback: boolean): boolean =>
    (metadata[`tokenizer.ggml.add_${name}_token`] ?? fallback) === true;
  const bos = isAsked('bos', addsBos) ? idOf(given, 'bos') : undefined;
  const eos = isAsked('eos', false) ? idOf(given, 'eos') : undefined;
  const ids = [bos, eos].filter((id) => id !== undefined);
  if (ids.length === 0) return null;
  const textOf = (id: number): string => given.tokens[id] ?? '';
  const piecesOf = (id: number | undefined): readonly Fields[] =>
    id === undefined ? [] : [{ SpecialToken: { id: textOf(id), type_id: 0 } }];
  const single = [...piecesOf(bos), { Sequence: { id: 'A', type_id: 0 } }, ...piecesOf(eos)];
  return {
    type: 'TemplateProcessing',
    single,
    pair: single,
    special_tokens: Object.fromEntries(
      ids.map((id) => [textOf(id), { id: textOf(id), ids: [id], tokens: [textOf(id)] }]),
    ),
  };
}

function tokenOf(given: Tokens, name: string): string | undefined {
  const id = idOf(given, name);
  return id === undefined ? undefined : given.tokens[id];
}

/** Undefined for an id that no token has. */
function idOf({ metadata, tokens }: Tokens, name: string): number | undefined {
  const id = metadata[`tokenizer.ggml.${name === 'unk' ? 'unknown' : name}_token_id`];
  return typeof id === 'number' && tokens[id] !== undefined ? id : undefined;
}

function nameOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function vocabularyOf(tokens: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(tokens.map((token, id) => [token, id]));
}

function stringsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function numbersOf(value: unknown): readonly number[] {
  return Array.isArray(value) ? value.map(Number) : [];
}

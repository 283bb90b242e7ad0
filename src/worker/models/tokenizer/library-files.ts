import { isRecord } from '../../../platform/is-record.ts';

/** A `tokenizer.json` for @huggingface/transformers, which requires fields that a file may leave out. */
export function tokenizerForLibrary(tokenizerJson: unknown): object {
  const fields = isRecord(tokenizerJson) ? tokenizerJson : {};
  return {
    normalizer: null,
    post_processor: null,
    decoder: null,
    added_tokens: [],
    ...fields,
    pre_tokenizer: preTokenizerForLibrary(fields['pre_tokenizer'] ?? null),
  };
}

/** The library's `Digits` splits at ASCII digits only; huggingface/tokenizers at all numerals (`½`, `٣`, `Ⅷ`). */
function preTokenizerForLibrary(preTokenizer: unknown): unknown {
  if (!isRecord(preTokenizer)) return preTokenizer;
  if (preTokenizer['type'] === 'Digits') {
    const pattern = { Regex: preTokenizer['individual_digits'] === true ? '\\p{N}' : '\\p{N}+' };
    return { type: 'Split', pattern, behavior: 'Isolated', invert: false };
  }
  const { pretokenizers } = preTokenizer;
  return Array.isArray(pretokenizers)
    ? { ...preTokenizer, pretokenizers: pretokenizers.map(preTokenizerForLibrary) }
    : preTokenizer;
}

/** A `tokenizer_config.json` for the library: each special token is a text, where files also have objects. */
export function configForLibrary(tokenizerConfig: unknown): object {
  const fields = Object.entries(isRecord(tokenizerConfig) ? tokenizerConfig : {});
  return Object.fromEntries(
    fields.map(([name, value]) => [
      name,
      name.endsWith('_token') && isRecord(value) ? value['content'] : value,
    ]),
  );
}

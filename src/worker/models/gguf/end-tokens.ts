import type { GgufHeader } from './read-gguf.ts';

/** Texts of tokens that end a generation. Source: `llama_vocab::impl::load` in `src/llama-vocab.cpp` of ggml-org/llama.cpp. */
const END_TEXTS: ReadonlySet<unknown> = new Set([
  '<|eot_id|>',
  '<|im_end|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '<|flush|>',
  '<|calls|>',
  '<end_of_turn>',
  '<|endoftext|>',
  '</s>',
  '<|eom_id|>',
  '<EOT>',
  '_<EOT>',
  '[EOT]',
  '[EOS]',
  '<|end_of_text|>',
  '<end_of_utterance>',
  '<eos>',
  '<turn|>',
  '<|tool_response>',
  '<｜end▁of▁sentence｜>',
  '[e~[',
  // Padding, and what separates files of code.
  '<|fim_pad|>',
  '<fim-pad>',
  '<fim_pad>',
  '<PAD>',
  '[PAD]',
  '<|fim_repo|>',
  '<|repo_name|>',
  '<fim-repo>',
  '<REPO>',
  '<reponame>',
  '<|file_sep|>',
]);

/** Beside all of one of these lists, the text is not an end: there, it ends a part of the answer. */
const EXCEPTIONS: readonly (readonly [text: string, ...beside: readonly string[]])[] = [
  ['<|end|>', '<|return|>', '<|call|>'],
  ['<|end|>', '<|return|>', '<|calls|>'],
  ['<|end|>', '<|call|>', '<|flush|>'],
  ['<|end|>', '<|calls|>', '<|flush|>'],
  ['</s>', '<|tool_response>'],
];

/** Keys below `tokenizer.ggml` that name one. */
const END_KEYS = ['eos', 'eot', 'eom', 'fim_pad', 'fim_rep', 'fim_sep'];

/** Ids of the tokens that end a generation, by the keys that name them and by their texts, as in llama.cpp. */
export function endTokenIds(metadata: GgufHeader['metadata']): readonly number[] {
  const given = metadata['tokenizer.ggml.tokens'];
  const tokens: readonly unknown[] = Array.isArray(given) ? given : [];
  const named = END_KEYS.map((key) => metadata[`tokenizer.ggml.${key}_token_id`]);
  const byText = tokens.flatMap((token, id) => (END_TEXTS.has(token) ? [id] : []));
  const ids = [...named.filter((id) => typeof id === 'number'), ...byText];
  const texts = new Set(ids.map((id) => tokens[id]));
  const isException = (id: number): boolean =>
    EXCEPTIONS.some(([text, ...beside]) => tokens[id] === text && beside.every((other) => texts.has(other)));
  return [...new Set(ids)].filter((id) => !isException(id));
}

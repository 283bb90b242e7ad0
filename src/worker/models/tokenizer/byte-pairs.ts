import * as v from 'valibot';

import { mergePairs, type FindMerge } from './merge-pairs.ts';
import { MergeTable } from './merge-table.ts';
import type { ModelFileCorruptError } from '../../../protocol/errors/model.ts';
import { corruptTokenizer, unsupportedPart } from './tokenizer-parts.ts';
import type { SubwordModel, TokenIds } from './subword-model.ts';

const given = v.object({
  dropout: v.nullish(v.number()),
  unk_token: v.nullish(v.string()),
  continuing_subword_prefix: v.nullish(v.string()),
  end_of_word_suffix: v.nullish(v.string()),
  fuse_unk: v.nullish(v.boolean(), false),
  byte_fallback: v.nullish(v.boolean(), false),
  ignore_merges: v.nullish(v.boolean(), false),
  // Their items are checked as they are read: a schema of them would take as long again.
  merges: v.custom<readonly unknown[]>(Array.isArray),
});
type Given = v.InferOutput<typeof given>;

/** Words whose tokens are remembered. Most texts repeat theirs. */
const MAX_REMEMBERED = 10_000;
const MAX_REMEMBERED_LENGTH = 256;

/**
 * Byte-pair encoding.
 *
 * @throws ModelFileCorruptError for merges of tokens that the vocabulary lacks.
 * @throws UnsupportedModelError for random tokens.
 */
export function readBytePairs(model: unknown, vocab: TokenIds): SubwordModel {
  const parsed = v.safeParse(given, model);
  if (!parsed.success) throw oddModel();
  const options = parsed.output;
  if (options.dropout) throw unsupportedPart('model', { type: 'BPE' }, 'whose dropout gives random tokens');
  return new BytePairs(options, vocab);
}

class BytePairs implements SubwordModel {
  readonly #options: Given;
  readonly #vocab: TokenIds;
  readonly #merges: MergeTable;
  readonly #remembered = new Map<string, readonly number[]>();

  constructor(options: Given, vocab: TokenIds) {
    this.#options = options;
    this.#vocab = vocab;
    this.#merges = readMerges(options, vocab);
  }

  *tokenize(word: string): Generator<number, readonly number[]> {
    const whole = this.#options.ignore_merges ? this.#vocab.get(word) : undefined;
    if (whole !== undefined) return [whole];
    const remembered = this.#remembered.get(word);
    if (remembered) return remembered;
    const ids = yield* mergePairs(this.#symbolsOf(word), this.#findMerge);
    if (this.#remembered.size >= MAX_REMEMBERED) this.#remembered.clear();
    if (word.length < MAX_REMEMBERED_LENGTH) this.#remembered.set(word, ids);
    return ids;
  }

  readonly #findMerge: FindMerge = (left, right) => this.#merges.find(left, right);

  /** A token for each character, its bytes, or an unknown one. A character without any of them is left out. */
  #symbolsOf(word: string): readonly number[] {
    const {
      continuing_subword_prefix: prefix,
      end_of_word_suffix: suffix,
      fuse_unk: isFused,
    } = this.#options;
    const ids: number[] = [];
    // An unknown token waits for the next known one, and bytes don't end the wait.
    let waiting: number | undefined;
    let at = 0;
    for (const character of word) {
      const isFirst = at === 0;
      at += character.length;
      const symbol = (isFirst ? '' : (prefix ?? '')) + character + (at === word.length ? (suffix ?? '') : '');
      const id = this.#vocab.get(symbol);
      if (id !== undefined) {
        if (waiting !== undefined) ids.push(waiting);
        waiting = undefined;
        ids.push(id);
        continue;
      }
      const bytes = this.#options.byte_fallback ? this.#bytesOf(symbol) : undefined;
      if (bytes) ids.push(...bytes);
      else {
        if (waiting !== undefined && !isFused) ids.push(waiting);
        waiting ??= this.#unknownId();
      }
    }
    if (waiting !== undefined) ids.push(waiting);
    return ids;
  }

  #bytesOf(symbol: string): readonly number[] | undefined {
    const ids: number[] = [];
    for (const byte of encoder.encode(symbol)) {
      const id = this.#vocab.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
      if (id === undefined) return undefined;
      ids.push(id);
    }
    return ids;
  }

  #unknownId(): number | undefined {
    const { unk_token: unknown } = this.#options;
    if (unknown === null || unknown === undefined) return undefined;
    const id = this.#vocab.get(unknown);
    if (id === undefined) throw corruptTokenizer(`its vocabulary lacks the unknown token ${unknown}`);
    return id;
  }
}

const encoder = new TextEncoder();

function readMerges({ merges, continuing_subword_prefix: prefix }: Given, vocab: TokenIds): MergeTable {
  const idOf = (token: string): number => {
    const id = vocab.get(token);
    if (id !== undefined && id <= MergeTable.MAX_ID) return id;
    throw corruptTokenizer(`it merges ${token}, which its vocabulary lacks`);
  };
  const prefixLength = prefix?.length ?? 0;
  const areTexts = typeof merges[0] === 'string';
  const table = new MergeTable(merges.length);
  for (let rank = 0; rank < merges.length; rank++) {
    const merge = merges[rank];
    if ((typeof merge === 'string') !== areTexts) throw oddModel();
    const left = partOf(merge, 0);
    const right = partOf(merge, 1);
    const id = idOf(left + (prefixLength > 0 ? right.slice(prefixLength) : right));
    table.add(idOf(left), idOf(right), rank, id);
  }
  return table;
}

/** Files have `left right`, or a list of the two: the same for all. */
function partOf(merge: unknown, index: 0 | 1): string {
  if (typeof merge === 'string') {
    const at = merge.indexOf(' ');
    if (at !== merge.lastIndexOf(' ')) throw corruptTokenizer('it has a merge of more than two tokens');
    if (index === 0) return at < 0 ? merge : merge.slice(0, at);
    return at < 0 ? '' : merge.slice(at + 1);
  }
  const part: unknown = Array.isArray(merge) && merge.length === 2 ? merge[index] : undefined;
  if (typeof part === 'string') return part;
  throw oddModel();
}

function oddModel(): ModelFileCorruptError {
  return corruptTokenizer('its BPE model has no merges, or odd options');
}

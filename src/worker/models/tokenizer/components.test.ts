import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as v from 'valibot';

import { isRecord } from '../../../platform/is-record.ts';
import { UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { createTokenizer, type Tokenizer } from './tokenizer.ts';
import { IS_WHOLE, SEED } from '../../../batching/testing/whole-run.ts';

// Each type of component of `tokenizers` 0.23 with its options: see tools/reference/tokenizers.

const rows = v.array(v.array(v.number()));
const shared = {
  parts: v.custom<object>(isRecord),
  model: v.string(),
  changes: v.optional(v.custom<object>(isRecord)),
};
const failed = v.object({ ...shared, error: v.string() });
const encoded = v.object({ ...shared, digests: v.array(v.string()), samples: rows });
const decoded = v.object({
  ...shared,
  ids: rows,
  decoded: v.object({ true: v.string(), false: v.string() }),
  samples: v.array(v.string()),
});
const learned = v.custom<Readonly<Record<string, unknown>>>(isRecord);
const file = v.object({
  texts: v.array(v.string()),
  blockSize: v.number(),
  models: v.record(v.string(), learned),
  cases: v.array(v.union([failed, encoded])),
  decoders: v.array(v.union([failed, decoded])),
});

const FILE = new URL(
  '../../../../tools/reference/fixtures/tokenizer-components-reference.json',
  import.meta.url,
);
const { texts, blockSize, models, cases, decoders } = v.parse(file, JSON.parse(readFileSync(FILE, 'utf8')));

/** A part of the texts is tried, or all with FULL=1. */
const NUM_BLOCKS = Math.ceil(texts.length / blockSize);
const BLOCKS = Array.from({ length: NUM_BLOCKS }, (_, block) => block).filter(
  (block) => IS_WHOLE || block === 0 || block === SEED % NUM_BLOCKS,
);

/** Components that have no counterpart here. */
const UNSUPPORTED =
  /UnicodeScripts|Precompiled|WordLevel|Unigram|dropout|two parts add|move the beginning|regular expression/;

const groups = Object.groupBy(cases, ({ parts, model, changes }) => {
  const part: unknown = Object.values(parts).find(isRecord);
  const type = isRecord(part) ? String(part['type']) : 'none';
  return changes || model !== 'boundaries' ? `model ${model}` : `${Object.keys(parts)[0] ?? ''} ${type}`;
});

describe(`texts (blocks ${BLOCKS.join()}, SEED=${SEED}) have the tokens of huggingface/tokenizers, or the model is refused by the name of its`, () => {
  it.each(Object.entries(groups))(
    '%s',
    async (_, group = []) => {
      for (const given of group) {
        const tokenizer = await loadOrRefuse(given);
        TAKEN.set(given, tokenizer !== undefined);
        if (!tokenizer) continue;
        if (!('digests' in given))
          throw new Error(`Python refuses ${JSON.stringify(given.parts)}: ${given.error}`);
        const samples = given.samples.map((__, at) =>
          tokenizer.encode(texts[3 + at] ?? '', (3 + at) % 2 === 0),
        );
        const digests = BLOCKS.map((block) => digestOf(idsOf(tokenizer, block)));
        const expected = {
          of: given.parts,
          samples: given.samples,
          digests: BLOCKS.map((block) => given.digests[block]),
        };
        expect({ of: given.parts, samples, digests }).toEqual(expected);
      }
    },
    300_000,
  );

  it('components: most are taken', async () => {
    const numTaken = (await Promise.all(cases.map(isTaken))).filter(Boolean).length;
    expect([numTaken, cases.length]).toEqual([481, 530]);
  });
});

describe('tokens have the texts of huggingface/tokenizers, or the model is refused by the name of its decoder:', () => {
  it.each(decoders.map((given) => [JSON.stringify(Object.values(given.parts)[0]), given] as const))(
    '%s',
    async (_, given) => {
      const tokenizer = await loadOrRefuse(given);
      if (!tokenizer) return;
      if (!('ids' in given)) throw new Error(`Python refuses it: ${given.error}`);
      const streamed = given.ids.map((ids) => {
        const stream = tokenizer.createTextStream(true);
        return ids.map((id) => stream.push(id)).join('') + stream.end();
      });
      expect(streamed.slice(0, given.samples.length)).toEqual(given.samples);
      expect(digestOf(streamed)).toBe(given.decoded.true);
      expect(digestOf(given.ids.map((ids) => tokenizer.vocabulary.decode(ids)))).toBe(given.decoded.false);
    },
  );
});

/** Whether the tokenizer of a case was taken, in the cases that ran. */
const TAKEN = new Map<Case, boolean>();

async function isTaken(given: Case): Promise<boolean> {
  return TAKEN.get(given) ?? (await loadOrRefuse(given)) !== undefined;
}

/** Undefined for a model that is refused as it should be. */
async function loadOrRefuse(given: Case): Promise<Tokenizer | undefined> {
  try {
    return await load(given);
  } catch (error) {
    const isNamed = error instanceof UnsupportedModelError && UNSUPPORTED.test(error.message);
    if (isNamed || 'error' in given || /decodes by/.test(String(error))) return undefined;
    throw error;
  }
}

type Case = v.InferOutput<typeof encoded> | v.InferOutput<typeof failed> | v.InferOutput<typeof decoded>;

function idsOf(tokenizer: Tokenizer, block: number): readonly (readonly number[])[] {
  const from = block * blockSize;
  return texts
    .slice(from, from + blockSize)
    .map((text, index) => tokenizer.encode(text, (from + index) % 2 === 0));
}

const MODELS = new Map(Object.entries(models).map(([name, model]) => [name, expanded(model)]));

function load({ parts, model, changes }: Case): Promise<Tokenizer> {
  const whole = { ...MODELS.get(model), ...changes };
  const added = 'added_tokens' in parts && Array.isArray(parts.added_tokens) ? parts.added_tokens : [];
  const decoder = model === 'pieces' ? null : { type: 'ByteLevel' };
  const added_tokens = added.map((token: object, id) => ({ id, ...token }));
  return createTokenizer({ decoder, ...parts, added_tokens, model: whole }, {});
}

/** A token for each character where a word begins, and another where it goes on. */
function expanded(model: Readonly<Record<string, unknown>>): object {
  const { alphabet, prefix } = model;
  if (typeof alphabet !== 'string' || typeof prefix !== 'string') return model;
  const bytes = Array.from(
    { length: 256 },
    (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
  );
  const tokens = new Set([...bytes, ...Array.from(alphabet), ...Array.from(alphabet, (one) => prefix + one)]);
  const vocab = Object.fromEntries(Array.from(tokens, (token, id) => [token, id]));
  return { type: 'BPE', continuing_subword_prefix: prefix, byte_fallback: true, vocab, merges: [] };
}

function digestOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest().subarray(0, 6).toString('base64');
}

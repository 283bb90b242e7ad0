import type { Page } from 'playwright/test';

import { readModelFile } from './reference.ts';

const WEIGHTS = 'model.safetensors';

/** The name of the weights' file in the page's requests, and its bytes in the model folder. */
export interface FileFault {
  readonly file: string;
  /** The body that arrives instead; `undefined` answers 404. */
  readonly body: Buffer | undefined;
}

/** Lets the page get a file of the model folder as the fault has it. */
export async function breakModelFile(page: Page, { file, body }: FileFault): Promise<void> {
  await page
    .context()
    .route(`**/models/storyteller/${file}`, (route) =>
      body ? route.fulfill({ status: 200, body }) : route.fulfill({ status: 404, body: 'Not found' }),
    );
}

export function missing(file: string): FileFault {
  return { file, body: undefined };
}

export function replaced(file: string, text: string): FileFault {
  return { file, body: Buffer.from(text) };
}

/** `config.json` with some fields changed. */
export function changedConfig(change: Readonly<Record<string, unknown>>): FileFault {
  const config: object = JSON.parse(readModelFile('config.json').toString());
  return replaced('config.json', JSON.stringify({ ...config, ...change }));
}

/** `tokenizer.json` with another regular expression. */
export function tokenizerThatSplitsBy(regex: string): FileFault {
  const tokenizer: object = JSON.parse(readModelFile('tokenizer.json').toString());
  const split = { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false };
  return replaced('tokenizer.json', JSON.stringify({ ...tokenizer, pre_tokenizer: split }));
}

/** A token's text and id. */
type NamedId = readonly [text: string, id: number];

/** `tokenizer.json` with one more added token. */
export function tokenizerThatAdds([content, id]: NamedId, file = readModelFile('tokenizer.json')): FileFault {
  const tokenizer: { added_tokens: readonly object[] } = JSON.parse(file.toString());
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const added = [...tokenizer.added_tokens, { id, content, ...flags }];
  return replaced('tokenizer.json', JSON.stringify({ ...tokenizer, added_tokens: added }));
}

/** `tokenizer.json` with one more entry of its vocabulary. */
export function tokenizerThatKnows([text, id]: NamedId): FileFault {
  const tokenizer: { model: { vocab: object } } = JSON.parse(readModelFile('tokenizer.json').toString());
  const model = { ...tokenizer.model, vocab: { ...tokenizer.model.vocab, [text]: id } };
  return replaced('tokenizer.json', JSON.stringify({ ...tokenizer, model }));
}

/** The weights' file cut off after a share of its bytes. */
export function truncatedWeights(share: number): FileFault {
  const file = readModelFile(WEIGHTS);
  return { file: WEIGHTS, body: file.subarray(0, Math.floor(file.length * share)) };
}

/** The weights' file whose first 8 bytes claim a header of another length. */
export function weightsWithHeaderLength(length: bigint): FileFault {
  const body = Buffer.from(readModelFile(WEIGHTS));
  body.writeBigUInt64LE(length);
  return { file: WEIGHTS, body };
}

interface TensorEntry {
  dtype: string;
  shape: number[];
  data_offsets: [number, number];
}

/** The weights' file with one tensor's entry in the header changed; `null` takes the entry out. */
export function weightsWithTensor(
  name: string,
  change: (entry: TensorEntry) => TensorEntry | null,
): FileFault {
  const file = readModelFile(WEIGHTS);
  const dataStart = 8 + Number(file.readBigUInt64LE());
  const header: Record<string, TensorEntry> = JSON.parse(file.subarray(8, dataStart).toString());
  const entry = header[name];
  if (!entry) throw new Error(`There is no tensor ${name}: it is one of ${Object.keys(header).join(', ')}`);
  const changed = change(entry);
  if (changed) header[name] = changed;
  else delete header[name];
  return { file: WEIGHTS, body: joinSafetensors(header, file.subarray(dataStart)) };
}

function joinSafetensors(header: object, data: Buffer): Buffer {
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, data]);
}

import type { Page } from 'playwright/test';

import { readModelFile, readModelJson } from './reference.ts';

const WEIGHTS = 'model.safetensors';

/** The name of the weights' file in the page's requests, and its bytes in the model folder. */
export interface FileFault {
  readonly file: string;
  /** The body that arrives instead; `undefined` answers 404. */
  readonly body: Buffer | undefined;
}

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

export function replaced(file: string, content: object): FileFault {
  return { file, body: Buffer.from(JSON.stringify(content)) };
}

export function changedConfig(change: Readonly<Record<string, unknown>>): FileFault {
  return replaced('config.json', { ...readModelJson('config.json'), ...change });
}

export function tokenizerThatSplitsBy(regex: string): FileFault {
  const split = { type: 'Split', pattern: { Regex: regex }, behavior: 'Isolated', invert: false };
  return replaced('tokenizer.json', { ...readModelJson('tokenizer.json'), pre_tokenizer: split });
}

type NamedId = readonly [text: string, id: number];

export function tokenizerThatAdds(
  [content, id]: NamedId,
  tokenizer: { readonly added_tokens: readonly object[] } = readModelJson('tokenizer.json'),
): FileFault {
  const flags = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };
  const added = [...tokenizer.added_tokens, { id, content, ...flags }];
  return replaced('tokenizer.json', { ...tokenizer, added_tokens: added });
}

/** `tokenizer.json` with one more entry of its vocabulary. */
export function tokenizerThatKnows([text, id]: NamedId): FileFault {
  const tokenizer: { model: { vocab: object } } = readModelJson('tokenizer.json');
  const model = { ...tokenizer.model, vocab: { ...tokenizer.model.vocab, [text]: id } };
  return replaced('tokenizer.json', { ...tokenizer, model });
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
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return { file: WEIGHTS, body: Buffer.concat([length, json, file.subarray(dataStart)]) };
}

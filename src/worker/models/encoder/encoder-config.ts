import { textOf } from '../../../batching/base/errors.ts';
import type { JsonRecord } from '../../../batching/base/validate-compound.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { EMBEDDER, RERANKER } from '../../../protocol/embedding.ts';
import { ModelFileCorruptError, UnsupportedModelError } from '../../../protocol/errors/model.ts';
import { TEXT_GENERATOR } from '../../../protocol/generation.ts';
import { readJson, type CheckpointFiles } from '../formats/checkpoint-files.ts';

/** How the hidden states of a text's tokens become one vector. */
export type Pooling = 'mean' | 'cls' | 'last' | 'sqrt-mean' | 'weighted-mean';

/** How a model that reads whole texts answers. */
export interface EncoderConfig {
  /** Makes a vector of a text, or scores a document for a query. */
  readonly task: 'embed' | 'rerank';
  /** Longest text in tokens, special tokens included. */
  readonly maxTokens: number;
  /** Length of the vector; 1 for a score. */
  readonly dimensions: number;
  readonly pooling: Pooling;
  /** Whether vectors have length 1 unless the caller chooses. */
  readonly isNormalized: boolean;
  /** Texts that are put before a text, by name. */
  readonly prompts: Readonly<Record<string, string>>;
  /** Name of the prompt of a text for which the caller names none. */
  readonly defaultPrompt?: string;
}

/** Field of `config.json` that holds the files of sentence-transformers, so that they are stored with it. */
const SENTENCE_FILES = 'tabserve_sentence_files';

/** Fields of `1_Pooling/config.json`. */
const POOLINGS: ReadonlyMap<string, Pooling> = new Map<string, Pooling>([
  ['pooling_mode_mean_tokens', 'mean'],
  ['pooling_mode_cls_token', 'cls'],
  ['pooling_mode_lasttoken', 'last'],
  ['pooling_mode_mean_sqrt_len_tokens', 'sqrt-mean'],
  ['pooling_mode_weightedmean_tokens', 'weighted-mean'],
]);

const MODULES: readonly string[] = ['Transformer', 'Pooling', 'Normalize'];

/** Adds the files of sentence-transformers to a parsed `config.json`, if there are any. */
export async function withSentenceFiles(files: CheckpointFiles, config: unknown): Promise<unknown> {
  const modules = await readJson(files, 'modules.json');
  if (modules === undefined || !isRecord(config)) return config;
  const [pooling, sentence, prompts] = await Promise.all([
    readJson(files, '1_Pooling/config.json'),
    readJson(files, 'sentence_bert_config.json'),
    readJson(files, 'config_sentence_transformers.json'),
  ]);
  return { ...config, [SENTENCE_FILES]: { modules, pooling, sentence, prompts } };
}

/**
 * Reads how a model of sentence-transformers pools. Undefined for a model without such files.
 *
 * @throws ModelFileCorruptError, UnsupportedModelError.
 */
export function readEmbedding(
  config: JsonRecord,
  shape: Pick<EncoderConfig, 'maxTokens' | 'dimensions'>,
): EncoderConfig | undefined {
  const files = config[SENTENCE_FILES];
  if (!isRecord(files)) return undefined;
  const modules = readModules(files['modules']);
  const sentence = isRecord(files['sentence']) ? files['sentence'] : {};
  const { prompts, default_prompt_name: defaultPrompt } = isRecord(files['prompts']) ? files['prompts'] : {};
  const length = sentence['max_seq_length'];
  return {
    ...shape,
    task: 'embed',
    maxTokens: typeof length === 'number' ? Math.min(length, shape.maxTokens) : shape.maxTokens,
    pooling: readPooling(files['pooling']),
    isNormalized: modules.includes('Normalize'),
    prompts: readPrompts(prompts),
    ...(typeof defaultPrompt === 'string' && { defaultPrompt }),
  };
}

/** Modules by the last part of their class: `sentence_transformers.models.Pooling`. */
function readModules(given: unknown): readonly string[] {
  const modules: readonly unknown[] = Array.isArray(given) ? given : [];
  const names = modules.map((module) => {
    const type: unknown = isRecord(module) ? module['type'] : undefined;
    return textOf(type).split('.').at(-1) ?? '';
  });
  const foreign = names.find((name) => !MODULES.includes(name));
  if (foreign === undefined) return names;
  throw UnsupportedModelError.of(`modules.json names ${foreign}, which is not one of ${MODULES.join(', ')}`);
}

function readPooling(given: unknown): Pooling {
  if (!isRecord(given)) throw ModelFileCorruptError.of('1_Pooling/config.json', 'there is no such file');
  const modes = Object.entries(given).filter(
    ([name, isSet]) => name.startsWith('pooling_mode') && isSet === true,
  );
  const [[mode] = ['']] = modes;
  const pooling = modes.length === 1 ? POOLINGS.get(mode) : undefined;
  if (pooling && given['include_prompt'] !== false) return pooling;
  const names = modes.map(([name]) => name).join(', ') || 'no pooling';
  const detail = pooling ? `${names} without the prompt` : names;
  throw UnsupportedModelError.of(
    `1_Pooling/config.json asks for ${detail}, which is not one of ${[...POOLINGS.keys()].join(', ')}`,
  );
}

function readPrompts(given: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(isRecord(given) ? given : {});
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The deployment that a model serves, which is no encoder if `encoder` is left out. */
export function deploymentOf(encoder: Pick<EncoderConfig, 'task'> | undefined): string {
  if (!encoder) return TEXT_GENERATOR;
  return encoder.task === 'embed' ? EMBEDDER : RERANKER;
}

import { fileOf, jsonFile, type GeneratedFile } from './generated-file.ts';
import type { GeneratedTensor } from './generated-tensor.ts';
import { safetensorsFile } from './safetensors-file.ts';
import { byteTokenizer, byteVocabulary } from './tokenizer.ts';

/** A checkpoint in the hub's layout, by the names of its files. */
export type GeneratedCheckpoint = ReadonlyMap<string, GeneratedFile>;

export interface CheckpointSpec {
  readonly config: { readonly vocab_size: number; readonly [field: string]: unknown };
  readonly generationConfig: object;
  /** `tokenizer_config.json`. `undefined` writes `vocab.json` and `merges.txt` instead of `tokenizer.json`. */
  readonly tokenizerConfig: object | undefined;
  readonly tensors: readonly GeneratedTensor[];
  readonly numShards?: number | undefined;
  readonly headerLength?: number | undefined;
}

export function generateCheckpoint(spec: CheckpointSpec): GeneratedCheckpoint {
  return new Map([
    ['config.json', jsonFile(spec.config)],
    ['generation_config.json', jsonFile(spec.generationConfig)],
    ...tokenizerFiles(spec),
    ...weightFiles(spec),
  ]);
}

/** The files with some more, or some in the place of their own. */
export function withJson(
  files: GeneratedCheckpoint,
  contents: Readonly<Record<string, unknown>>,
): GeneratedCheckpoint {
  return new Map([
    ...files,
    ...Object.entries(contents).map(([name, content]) => [name, jsonFile(content)] as const),
  ]);
}

function tokenizerFiles({ config, tokenizerConfig }: CheckpointSpec): readonly [string, GeneratedFile][] {
  const { vocab_size: vocabSize } = config;
  if (!tokenizerConfig) {
    return [
      ['vocab.json', jsonFile(byteVocabulary(vocabSize))],
      ['merges.txt', fileOf('#version: 0.2\n')],
    ];
  }
  return [
    ['tokenizer.json', jsonFile(byteTokenizer(vocabSize))],
    ['tokenizer_config.json', jsonFile(tokenizerConfig)],
  ];
}

function weightFiles(spec: CheckpointSpec): readonly [string, GeneratedFile][] {
  const { tensors, numShards = 1, headerLength } = spec;
  if (numShards === 1) return [['model.safetensors', safetensorsFile(tensors, headerLength)]];
  const shardLength = Math.ceil(tensors.length / numShards);
  const shards = Array.from({ length: numShards }, (_, i) => {
    return {
      name: `model-${fiveDigits(i + 1)}-of-${fiveDigits(numShards)}.safetensors`,
      tensors: tensors.slice(i * shardLength, (i + 1) * shardLength),
    };
  });
  const weightMap = shards.flatMap(({ name, tensors: part }) => part.map((tensor) => [tensor.name, name]));
  return [
    ['model.safetensors.index.json', jsonFile({ metadata: {}, weight_map: Object.fromEntries(weightMap) })],
    ...shards.map(({ name, tensors: part }): [string, GeneratedFile] => [name, safetensorsFile(part)]),
  ];
}

function fiveDigits(value: number): string {
  return String(value).padStart(5, '0');
}

import type { ExportedDtype } from '../peers/models/standard-interface.ts';

/** The measured dtypes, by Tabserve's names. */
export const PRECISIONS = ['fp32', 'fp16', 'q4'] as const;

export type Precision = (typeof PRECISIONS)[number];

/** Libraries, each in a page of its own. */
export const LIBRARIES = ['tabserve', 'pipeline', 'wllama'] as const;

export type LibraryName = (typeof LIBRARIES)[number];

/** Ways to call the libraries, with their labels in the tables. */
export const CONTENDERS = {
  tabserve: 'Tabserve',
  'pipeline-one': 'transformers.js, one by one',
  'pipeline-list': 'transformers.js, lists of prompts',
  wllama: 'wllama, slots',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

export function contenderNames(): ContenderName[] {
  return Object.keys(CONTENDERS).filter((name): name is ContenderName => name in CONTENDERS);
}

export const LIBRARY_OF: Readonly<Record<ContenderName, LibraryName>> = {
  tabserve: 'tabserve',
  'pipeline-one': 'pipeline',
  'pipeline-list': 'pipeline',
  wllama: 'wllama',
};

/** The GPU, as the browser sees it. */
export interface Adapter {
  readonly name: string;
  /** Whether it computes on the CPU, as SwiftShader does. */
  readonly isSoftware: boolean;
  readonly hasShaderF16: boolean;
}

export interface TabserveModel {
  /** Name of the model's folder below `models/`, and of its GGUF file. */
  readonly id: string;
  /** The folder's files, or `gguf` for the file that wllama gets. */
  readonly fileNames: readonly string[] | 'gguf';
  readonly precision: Precision;
}

/** The model that a page loads, and its limits. */
export interface Setup {
  readonly model: TabserveModel;
  readonly exportedDtype: ExportedDtype;
  /** The most rows that run together. */
  readonly numSlots: number;
  /** Tokens of the longest row. */
  readonly contextLength: number;
}

/** A greedy answer of Tabserve. */
export interface ReferenceAnswer {
  readonly prompt: string;
  readonly tokenIds: readonly number[];
  /** The text as it was streamed. */
  readonly pieces: readonly { readonly text: string; readonly numTokens: number }[];
  /** For each token, the logprob of the likeliest candidate minus that of the next. */
  readonly leads: readonly number[];
  /** The likeliest candidates for the first token. */
  readonly first: readonly { readonly tokenId: number; readonly logprob: number }[];
}

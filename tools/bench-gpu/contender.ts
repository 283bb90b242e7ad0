import type { TabserveModel } from './page/tabserve.ts';
import type { ExportedDtype } from '../bench-peers/models/standard-interface.ts';

/** What the product calls the dtypes that are measured. */
export const PRECISIONS = ['fp32', 'fp16', 'q4'] as const;

export type Precision = (typeof PRECISIONS)[number];

/** Libraries, each in a page of its own. */
export const LIBRARIES = ['tabserve', 'pipeline', 'wllama'] as const;

export type LibraryName = (typeof LIBRARIES)[number];

/** Ways to call them, with what the tables call them. */
export const CONTENDERS = {
  tabserve: 'Tabserve',
  'pipeline-one': 'transformers.js, one by one',
  'pipeline-list': 'transformers.js, lists of prompts',
  wllama: 'wllama, slots',
} as const;

export type ContenderName = keyof typeof CONTENDERS;

export const LIBRARY_OF: Readonly<Record<ContenderName, LibraryName>> = {
  tabserve: 'tabserve',
  'pipeline-one': 'pipeline',
  'pipeline-list': 'pipeline',
  wllama: 'wllama',
};

/** The GPU, as the browser sees it. */
export interface Adapter {
  readonly name: string;
  /** SwiftShader and the like, which compute on the CPU. */
  readonly isSoftware: boolean;
  readonly hasShaderF16: boolean;
}

/** What a page loads. */
export interface Setup {
  readonly model: TabserveModel;
  readonly exportedDtype: ExportedDtype;
  /** The most rows that will run together. */
  readonly numSlots: number;
  /** Tokens that the longest of them will have. */
  readonly contextLength: number;
}

/** A greedy answer of Tabserve. */
export interface ReferenceAnswer {
  readonly prompt: string;
  readonly tokenIds: readonly number[];
  /** The text as it was streamed. */
  readonly pieces: readonly { readonly text: string; readonly numTokens: number }[];
  /** Of each token, the logprob of the likeliest one less that of the next. */
  readonly leads: readonly number[];
  /** The likeliest tokens in the place of the first one. */
  readonly first: readonly { readonly tokenId: number; readonly logprob: number }[];
}

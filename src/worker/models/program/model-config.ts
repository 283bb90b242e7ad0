/** Heads of attention. */
export interface Heads {
  /** Query heads. */
  readonly numHeads: number;
  /** Heads of keys and values. Several query heads share one where there are fewer than `numHeads`. */
  readonly numKvHeads: number;
  readonly headSize: number;
}

/** Heads of linear attention. */
export interface DeltaHeads {
  /** Heads of queries and keys. */
  readonly numKeyHeads: number;
  /** Heads of values. Several consecutive ones share a query and a key where there are more than `numKeyHeads`. */
  readonly numValueHeads: number;
  readonly keySize: number;
  readonly valueSize: number;
}

/** The sizes of a model that the runtime needs, whatever its family. */
export interface ModelConfig {
  readonly vocabSize: number;
  /** Longest sequence, prompt and output together, in tokens: the model's limit, or less if the device holds less. */
  readonly contextLength: number;
  readonly numLayers: number;
  /** Whether it reads whole texts, and keeps no keys and values. */
  readonly isEncoder?: true;
  /** Tokens that end a sequence; empty where the model has none. */
  readonly eosTokenIds: readonly number[];
}

/** A tensor of the checkpoint that the forward pass reads. */
export interface ModelTensor {
  /** As in the checkpoint, without the prefix that some checkpoints have. */
  readonly name: string;
  readonly shape: readonly number[];
  /**
   * The checkpoint's tensors that make up this one, row after row, each with its number of rows. Left out where the
   * checkpoint has it whole.
   */
  readonly sources?: readonly { readonly name: string; readonly numRows: number }[];
  /**
   * How the forward pass uses it:
   * - `linear`: a matrix [out, in], as PyTorch's `nn.Linear` stores it;
   * - `conv1d`: a matrix [in, out], as GPT-style `Conv1D` stores it;
   * - `embedding`: looked up by row; where the head is tied to it, also multiplied like a `linear`;
   * - `plain`: anything else, such as a bias.
   */
  readonly role: 'linear' | 'conv1d' | 'embedding' | 'plain';
  /**
   * Whether q4 stores it in 8 bits: embeddings, heads, and the matrices behind attention's queries, keys and values and before the
   * MLP's output, where an error of 4 bits costs the most. Single inputs of the latter are a thousand times larger than others.
   */
  readonly isSensitive?: true;
}

/** A tensor that the forward pass reads as it is. */
export function plainTensor(name: string, ...shape: readonly number[]): ModelTensor {
  return { name, shape, role: 'plain' };
}

/** The embeddings of words, and the matrix of the head: the same tensor, unless the logits have a matrix of their own. */
export function wordTensors(name: string, shape: readonly number[], isHeadSeparate: boolean) {
  const words: ModelTensor = { name, shape, role: 'embedding', isSensitive: true };
  // Checkpoints have the head's without the prefix.
  const ownHead: ModelTensor = { ...words, name: 'lm_head.weight', role: 'linear' };
  return { words, head: isHeadSeparate ? ownHead : words };
}

/** A tensor as the checkpoint has it. */
export type TensorSource = Pick<ModelTensor, 'name' | 'shape'>;

/** The checkpoint's tensors that make up one of the forward pass, row after row. */
export function listSources({ name, shape, sources }: ModelTensor): readonly TensorSource[] {
  if (!sources) return [{ name, shape }];
  return sources.map((source) => ({ name: source.name, shape: [source.numRows, ...shape.slice(1)] }));
}

/** Whether the rows of a tensor are converted, quantized and bound to shaders in blocks. */
export function isSplitByRows({ role }: Pick<ModelTensor, 'role'>): boolean {
  return role === 'embedding' || role === 'linear';
}

export function countParameters(tensors: readonly ModelTensor[]): number {
  return tensors.reduce((sum, { shape }) => sum + countElements(shape), 0);
}

export function countElements(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

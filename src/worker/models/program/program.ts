import type { DeltaHeads, Heads, ModelTensor } from './model-config.ts';
import type { Activation } from './activation.ts';
import type { LayerState } from './layer-state.ts';
import type { Rope } from './rope.ts';

/** A model's forward pass, whatever computes it. Made by `ProgramBuilder`, which checks it. */
export interface Program {
  /** Each after those whose values it reads. */
  readonly ops: readonly Op[];
  /** All tensors that the operations read, in the order in which they are converted. */
  readonly weights: readonly ModelTensor[];
  readonly output: Value;
  /** A row's state between runs, for each layer. */
  readonly states: readonly LayerState[];
}

/** An operation's output: numbers for each token, or for each text. */
export interface Value {
  readonly name: string;
  /** How many numbers. */
  readonly width: number;
  readonly per: 'token' | 'text';
}

export type Qkv = readonly [query: Value, key: Value, value: Value];

export interface NormShape {
  /** `layer` subtracts the mean and divides by the deviation, `rms` divides by the root mean square. */
  readonly method: 'layer' | 'rms';
  readonly epsilon: number;
  /** Added to the gain. */
  readonly gainOffset?: 1;
}

export interface AttentionShape {
  /** Factor of the scores. */
  readonly scale: number;
  /** Whether a token attends to itself and those before it alone. Else it attends to all of its text. */
  readonly isCausal: boolean;
  /** Latest tokens that a token attends to, itself included; all where left out. */
  readonly window?: number | undefined;
}

interface Operation<Inputs extends readonly Value[], Weights extends readonly (ModelTensor | undefined)[]> {
  readonly inputs: Inputs;
  readonly outputs: readonly [Value, ...Value[]];
  readonly weights: Weights;
}

type One = readonly [Value];
type None = readonly [];

/** A row of a table for each token: by its id, its position, or the text of a pair that it is in. */
export type Embed = Operation<None, readonly [table: ModelTensor]> & {
  readonly kind: 'embed';
  readonly by: 'token' | 'position' | 'type';
};

/** Normalizes as many values at a time as there are gains: all of a token's, or those of a head. */
export type Norm = Operation<One, readonly [gain: ModelTensor, bias?: ModelTensor]> &
  NormShape & { readonly kind: 'norm' };

/** Several outputs share the outputs of the matrix, one behind the other. */
export type Linear = Operation<One, readonly [matrix: ModelTensor, bias?: ModelTensor]> & {
  readonly kind: 'linear';
};

/** Turns queries and keys by their positions: of the values of a head that turn, the first half with the second. Others stay. */
export type Rotary = Operation<readonly [query: Value, key: Value], None> & {
  readonly kind: 'rotary';
  readonly rope: Rope;
  readonly headSize: number;
};

/** Attention of each row over the tokens before and those of this run. */
export type Attend = Operation<Qkv, None> &
  AttentionShape & { readonly kind: 'attend'; readonly heads: Heads };

/**
 * Convolution of each value with its latest ones, the token's own last: [width, 1, length], as PyTorch's `nn.Conv1d` with a group for
 * each value. Before the first token, values are 0. The state is the values of the latest tokens, the last one's last.
 */
export type ShortConv = Operation<One, readonly [kernel: ModelTensor, bias?: ModelTensor]> & {
  readonly kind: 'shortConv';
};

/**
 * Linear attention by the gated delta rule (arXiv 2412.06464). Each head of values keeps a matrix [keySize, valueSize] of a row, 0 before
 * the first token. For a token with query q, key k and value v of the head:
 *
 * - q and k are divided by their lengths (1e-6 is added to a squared length), and q by √keySize too;
 * - the matrix S decays: S ← S · exp(-exp(rate) · softplus(decay + bias));
 * - what S has under k moves towards v: S ← S + k ⊗ (sigmoid(beta) · (v - Sᵀk));
 * - the output is Sᵀq.
 */
export type DeltaRule = Operation<
  readonly [query: Value, key: Value, value: Value, decay: Value, beta: Value],
  readonly [rate: ModelTensor, bias: ModelTensor]
> & { readonly kind: 'deltaRule'; readonly heads: DeltaHeads };

/** Parts of each head of a value, one behind the other there: an output has its part of all heads. */
export type Split = Operation<One, None> & { readonly kind: 'split'; readonly numHeads: number };

/** The residual stream with a branch added to it. */
export type Add = Operation<readonly [residual: Value, branch: Value], None> & { readonly kind: 'add' };

type Multiply = Operation<readonly [gate: Value, input: Value], None> & { readonly kind: 'multiply' };

type Activate = Operation<One, None> & { readonly kind: 'activation'; readonly activation: Activation };

type Scale = Operation<One, None> & { readonly kind: 'scale'; readonly factor: number };

/** A text's sum of its tokens' values, by the shares that its pooling gives them. */
type Pool = Operation<One, None> & { readonly kind: 'pool' };

/** The logits of the tokens for which they are wanted. */
type Head = Operation<One, readonly [matrix: ModelTensor]> & { readonly kind: 'head' };

export type Op =
  | Embed
  | Norm
  | Linear
  | Rotary
  | Attend
  | ShortConv
  | DeltaRule
  | Split
  | Activate
  | Add
  | Multiply
  | Scale
  | Pool
  | Head;

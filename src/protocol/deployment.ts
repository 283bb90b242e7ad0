import type { BatchContext, BatchOptions } from '../batching/batch/batch.ts';

/** Answers one input at a time to its callers, and handles inputs in batches. */
export interface Deployment<Input, Output, Name extends string = string> {
  /** The name for `getHandle`. */
  readonly name: Name;
  /**
   * Checks a caller's input: it may come from another tab or over HTTP.
   *
   * @returns The input as the handler takes it.
   * @throws InvalidOptionError, which rejects that caller only.
   */
  readonly checkInput: (input: unknown) => Input;
  /** How inputs are batched. */
  readonly batchOptions?: BatchOptions<Input> | undefined;
  /** Answers a batch with one entry per input, in order. An `Error` in a slot rejects that caller only. */
  readonly handler: (inputs: readonly Input[], context: BatchContext) => Promise<readonly (Output | Error)[]>;
}

declare const TYPES: unique symbol;

/** A deployment whose input and output types reach its callers, even from a list of deployments. */
export interface TypedDeployment<Name extends string, Input, Output> extends Deployment<unknown, unknown> {
  /** The name for `getHandle`. */
  readonly name: Name;
  /**
   * Never set: it carries the types for the compiler.
   *
   * @internal
   */
  readonly [TYPES]?: { readonly input: Input; readonly output: Output };
}

/** A deployment with any types of input and output. */
export type AnyDeployment = TypedDeployment<string, unknown, unknown>;

/** The inputs and outputs of a list of deployments, by name. */
export type DeploymentTypes<Deployments extends readonly AnyDeployment[]> = {
  readonly [Entry in Deployments[number] as Entry['name']]: NonNullable<Entry[typeof TYPES]>;
};

/** Gives a deployment the types of its parts: `connect<typeof deployments>` hands them to the callers. */
export function defineDeployment<Input, Output, const Name extends string = string>(
  deployment: Deployment<Input, Output, Name>,
): TypedDeployment<Name, Input, Output> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handler gets only what checkInput returned
  return deployment as Deployment<unknown, unknown> as TypedDeployment<Name, Input, Output>;
}

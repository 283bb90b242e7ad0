import type { BatchContext, BatchOptions } from '../../batching/batch.ts';

/** What a file `<name>.deployment.ts` of this folder exports as `deployment`. */
export interface Deployment<Input, Output> {
  /** Under which name a handle reaches it. */
  readonly name: string;
  /** Turns what a caller sent into an input, or throws `InvalidOptionError`: that caller alone is rejected. */
  readonly checkInput: (input: unknown) => Input;
  readonly batchOptions?: BatchOptions<Input>;
  /** Answers a whole batch: one entry per input, in order; an `Error` in a slot rejects that caller alone. */
  readonly handler: (inputs: readonly Input[], context: BatchContext) => Promise<readonly (Output | Error)[]>;
}

/** A deployment as the worker holds it, whatever goes in and out. */
export type AnyDeployment = Deployment<unknown, unknown>;

/** Types a deployment by its own parts, so that a definition needs no annotations. */
export function defineDeployment<Input, Output>(deployment: Deployment<Input, Output>): AnyDeployment {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only what checkInput has let through goes further
  return deployment as AnyDeployment;
}

import type { BatchContext, BatchOptions } from '../../batching/batch.ts';

/** A file `<name>.deployment.ts` in this folder exports one as `deployment`. */
export interface Deployment<Input, Output> {
  /** The name for `getHandle`. */
  readonly name: string;
  /** Checks a caller's input. @throws InvalidOptionError, which rejects that caller only. */
  readonly checkInput: (input: unknown) => Input;
  readonly batchOptions?: BatchOptions<Input>;
  /** Answers a batch with one entry per input, in order. An `Error` in a slot rejects that caller only. */
  readonly handler: (inputs: readonly Input[], context: BatchContext) => Promise<readonly (Output | Error)[]>;
}

/** A deployment with any types of input and output. */
export type AnyDeployment = Deployment<unknown, unknown>;

/** Infers a deployment's types from its parts. */
export function defineDeployment<Input, Output>(deployment: Deployment<Input, Output>): AnyDeployment {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the handler gets only what checkInput returned
  return deployment as AnyDeployment;
}

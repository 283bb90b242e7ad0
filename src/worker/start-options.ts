import type { AnyDeployment } from '../protocol/deployment.ts';

/** Options of a worker. */
export interface StartWorkerOptions {
  /** The deployments that the worker serves beside the text generator. Their names must differ. */
  readonly deployments?: readonly AnyDeployment[] | undefined;
  /**
   * The folder of onnxruntime's `.wasm` files, relative to the worker's script. By default, the place where the bundler has put
   * them.
   */
  readonly runtimeUrl?: string | undefined;
  /** Awaited before the worker serves. If it rejects, the worker fails and another one is started. */
  readonly prepare?: (() => Promise<void>) | undefined;
}

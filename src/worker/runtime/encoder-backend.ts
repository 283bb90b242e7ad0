import type { BackendInfo } from '../../protocol/models.ts';
import type { EncoderRow } from './encoder-inputs.ts';
import type { RunCost } from './run-cost.ts';

/** A loaded encoder on one device. It keeps nothing between runs. */
export interface EncoderBackend {
  readonly name: BackendInfo['name'];
  /** The cost of runs here, without their wait for others. */
  readonly cost: RunCost;
  /** The longest row that the device holds, in tokens. */
  readonly maxTokens: number;
  /** Whether these rows can run together. */
  fits(rows: readonly EncoderRow[]): boolean;
  /**
   * @param isMeasured Whether the run adds to `cost`; it does by default.
   * @returns A vector or a score for each row, in order.
   * @throws WasmAbortError, DeviceLostError or StepHangError if nothing runs in this worker any more.
   */
  run(rows: readonly EncoderRow[], isMeasured?: boolean): Promise<readonly Float32Array[]>;
  release(): Promise<void>;
}

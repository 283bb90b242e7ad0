import type { BackendChoice } from '../../protocol/ladder.ts';
import type { WorkerPast } from '../../protocol/recovery.ts';
import type { DeviceLimits } from '../models/checkpoint/device-fit.ts';
import { chooseDevice, limitsOf } from './create-backend.ts';
import type { DeviceChoice } from './device-choice.ts';

/** The device that all models of a worker share. It outlives them: a released model leaves it to the others. */
export class SharedDevice {
  readonly #choice: BackendChoice;
  readonly #past: WorkerPast;
  #chosen: Promise<DeviceChoice> | undefined;

  constructor(choice: BackendChoice, past: WorkerPast) {
    this.#choice = choice;
    this.#past = past;
  }

  /**
   * Chooses it with the first call, and again after a failure or a loss.
   *
   * @throws As `chooseDevice`.
   */
  get(): Promise<DeviceChoice> {
    return (this.#chosen ??= this.#choose());
  }

  /** The limits that a plan for a model respects. */
  async limits(): Promise<DeviceLimits> {
    return limitsOf(await this.get());
  }

  async #choose(): Promise<DeviceChoice> {
    const forget = (): void => {
      this.#chosen = undefined;
    };
    try {
      const device = await chooseDevice(this.#choice, this.#past);
      if ('gpu' in device) void device.gpu.device.lost.then(forget);
      return device;
    } catch (error) {
      forget();
      throw error;
    }
  }
}

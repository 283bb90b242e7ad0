import type { BackendChoice } from '../../../protocol/ladder.ts';
import type { WorkerPast } from '../../../protocol/recovery.ts';
import type { DeviceLimits, ServingModel } from '../../models/checkpoint/device-fit.ts';
import { chooseDevice, limitsOf } from './create-backend.ts';
import type { DeviceChoice } from '../device-choice.ts';

/** The device that all models of a worker share. It outlives them: a released model leaves it to the others. */
export class SharedDevice {
  readonly #choice: BackendChoice;
  readonly #past: WorkerPast;
  readonly #isTrial: boolean;
  #chosen: Promise<DeviceChoice> | undefined;
  /** By the deployment that each serves. */
  readonly #serving = new Map<string, ServingModel>();

  constructor(choice: BackendChoice, past: WorkerPast, isTrial = false) {
    this.#choice = choice;
    this.#past = past;
    this.#isTrial = isTrial;
  }

  /**
   * Chooses it with the first call, and again after a failure or a loss.
   *
   * @throws As `chooseDevice`.
   */
  async get(): Promise<DeviceChoice> {
    const device = await (this.#chosen ??= this.#choose());
    return { ...device, serving: [...this.#serving.values()], isTrial: this.#isTrial };
  }

  /** Counts a model that serves, or will, in the limits for others, in place of the one that served this deployment before. */
  count(deployment: string, model: ServingModel): void {
    this.#serving.set(deployment, model);
  }

  /** The model that was counted for this deployment is not there. */
  discount(deployment: string): void {
    this.#serving.delete(deployment);
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
      void device.runtime.lost?.then(forget);
      return device;
    } catch (error) {
      forget();
      throw error;
    }
  }
}

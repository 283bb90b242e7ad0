import { setDeadline, systemClock } from '../../../batching/base/clock.ts';
import { ModelTooLargeError } from '../../../protocol/errors/model.ts';
import type { EncoderInit } from '../../../protocol/host-messages.ts';
import { isFetched, modelNameOf, type DtypeChoice } from '../../../protocol/models.ts';
import { planModel } from '../../models/checkpoint/model-plan.ts';
import type { Model } from '../../models/family.ts';
import type { ModelStore } from '../../models/store/model-store.ts';
import type { SharedDevice } from '../../runtime/devices/shared-device.ts';
import { describeModel } from './describe-model.ts';
import { findStored } from './obtain-model.ts';

/** How long the first model waits for the hub's answers about the others, ms. */
const LIMIT_MS = 5000;

/**
 * Counts the memory of models that will be loaded, so that every other one is planned beside them. Their weights are not fetched. A
 * model that can't be read in time is not counted: its own load tells why.
 *
 * @throws ModelTooLargeError if they don't fit together.
 */
export async function reserveEncoders(
  encoders: readonly EncoderInit[],
  device: SharedDevice,
  store: Promise<ModelStore>,
  clock = systemClock,
): Promise<void> {
  const limit = new AbortController();
  const cancel = setDeadline(clock, LIMIT_MS, () => limit.abort());
  const read = encoders.map(async ({ source }) => describe(source, device, await store, limit.signal));
  const described = await Promise.allSettled(read);
  cancel();
  for (const [index, { deployment, source }] of encoders.entries()) {
    const found = described[index];
    if (found?.status !== 'fulfilled') continue;
    const { model, dtype } = found.value;
    try {
      const { deviceBytes: bytes } = planModel({ model }, dtype, await device.limits());
      device.count(deployment, { id: modelNameOf(source), isEncoder: true, bytes });
    } catch (error) {
      if (error instanceof ModelTooLargeError) throw error;
    }
  }
}

async function describe(
  source: EncoderInit['source'],
  device: SharedDevice,
  store: ModelStore,
  signal: AbortSignal,
): Promise<{ readonly model: Model; readonly dtype: DtypeChoice }> {
  const stored = isFetched(source)
    ? undefined
    : await findStored(source, 'auto', await device.limits(), store);
  return {
    model: await describeModel(source, stored, store, signal),
    dtype: stored?.manifest.packed.dtype ?? 'auto',
  };
}

import type { Dtype, DtypeChoice } from '../../../protocol/models.ts';
import type { Model } from '../family.ts';
import { countParameters } from '../program/model-config.ts';
import type { ModelFiles } from './checkpoint.ts';
import { fitOnDevice, type DeviceFit, type DeviceLimits } from './device-fit.ts';
import { layOut, type PackedLayout } from './packed-weights.ts';
import { dtypeNeeds, dtypeTooNarrow, tooLarge } from '../model-errors.ts';

/** How a checkpoint will run, and its memory. Known once `config.json` is read. */
export interface ModelPlan {
  readonly layout: PackedLayout;
  /** Why `auto` did not take its first choice; empty where it did, or where the caller chose. */
  readonly reason: string;
  /** As in `DeviceFit`. */
  readonly deviceBytes: number;
}

/** One way to store a model's weights, and the memory that it takes on a device. */
export interface DtypePlan extends DeviceFit {
  readonly layout: PackedLayout;
}

type PlannedModel = Pick<Model, 'config' | 'program' | 'needsFloat32'>;

/**
 * Chooses the dtype. `auto` takes the first that fits of fp16 (fp32 where the GPU or the model has no fp16), q8 and q4.
 *
 * @throws ModelTooLargeError with the numbers, where no dtype that was asked for fits.
 * @throws UnsupportedDtypeError where fp16 is asked for, and the device does not offer it or the model exceeds its range.
 */
export function planModel(
  { model }: Pick<ModelFiles, 'model'>,
  choice: DtypeChoice,
  device: DeviceLimits,
): ModelPlan {
  if (choice === 'fp16' && !hasFloat16(device)) throw dtypeNeeds('fp16', 'shader-f16');
  if (choice === 'fp16' && model.needsFloat32) throw dtypeTooNarrow('fp16');
  const { plan, passedOver } = chooseDtype(model, choice, device);
  const { layout, deviceBytes, obstacle } = plan;
  if (obstacle === undefined) return { layout, deviceBytes, reason: passedOver.join('; ') };
  throw tooLarge([...passedOver, obstacle].join('; '), countParameters(model.program.weights));
}

/** The best dtype that fits, else the smallest, and why each better one was passed over. */
export function chooseDtype(
  model: PlannedModel,
  choice: DtypeChoice,
  device: DeviceLimits,
): { readonly plan: DtypePlan; readonly passedOver: readonly string[] } {
  const isFloat16 = hasFloat16(device) && !model.needsFloat32;
  const best = isFloat16 ? 'fp16' : 'fp32';
  const smaller = (['q8', 'q4'] as const).filter((dtype) => device.encodings.includes(dtype));
  const passedOver: string[] = [];
  let plan = planDtype(model, choice === 'auto' ? best : choice, isFloat16, device);
  for (const dtype of choice === 'auto' ? smaller : []) {
    const reason = plan.obstacle ?? slowness(plan.layout, device);
    if (reason === undefined) break;
    passedOver.push(reason);
    plan = planDtype(model, dtype, isFloat16, device);
  }
  return { plan, passedOver };
}

/** Whether weights in fp32 make a device slow that holds them. */
export function isSlow(size: number, device: DeviceLimits): boolean {
  return size > device.largestInFloat32;
}

/** Why `auto` doesn't take a dtype although it fits. */
function slowness({ dtype, size }: PackedLayout, device: DeviceLimits): string | undefined {
  if (dtype !== 'fp32' || !isSlow(size, device)) return undefined;
  return `as fp32 a CPU reads ${Math.ceil(size / 1e6)} MB for each token, and in 8 bits a quarter`;
}

function planDtype(model: PlannedModel, dtype: Dtype, isFloat16: boolean, device: DeviceLimits): DtypePlan {
  const layout = layOut(model.program.weights, dtype, isFloat16 && dtype !== 'fp32' ? 'float16' : 'float32');
  return { layout, ...fitOnDevice(model, layout, device) };
}

/** Whether the device computes in fp16. */
export function hasFloat16(device: DeviceLimits): boolean {
  return device.encodings.includes('float16');
}

import * as v from 'valibot';
import type {
  BatchKnobs,
  BatchingPolicy,
  DeploymentInfo,
  Fault,
  KnobSettings,
  FinishReason,
  HeldOverride,
  OverrideId,
  Recovery,
  RequestId,
  Rung,
  ServedModel,
  PromptTokenLogprobs,
  TokenLogprobs,
} from './protocol.ts';
import { PROTOCOL_VERSION } from './protocol.ts';
import { MAX_NAME_LENGTH, MAX_TOKEN_IDS } from './names.ts';

// What both doors check. Everything that arrives on a channel is unknown until it has passed one of them.

export const version = v.literal(PROTOCOL_VERSION);

/** An id of the kind that the type names: brands exist for the compiler only. */
export function id<Id extends string>(): v.GenericSchema<unknown, Id> {
  return v.custom<Id>(
    (value) => typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME_LENGTH,
  );
}

export const requestId = id<RequestId>();

export const name = v.pipe(v.string(), v.maxLength(MAX_NAME_LENGTH));

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));

/** Not finite only where "without limit" has a meaning. */
const countOrInfinity = v.union([count, v.literal(Infinity)]);

export const duration = v.pipe(v.number(), v.finite(), v.minValue(0));

export const tokenIds = v.pipe(
  v.custom<unknown[]>((value) => Array.isArray(value) && value.length <= MAX_TOKEN_IDS),
  v.array(count),
);

export const finishReason: v.GenericSchema<unknown, FinishReason> = v.picklist([
  'stop',
  'length',
  'abort',
  'error',
]);

const logprob = v.object({ tokenId: count, logprob: v.number() });

/** One per output token. */
export const logprobs: v.GenericSchema<unknown, readonly TokenLogprobs[]> = v.array(
  v.object({ ...logprob.entries, top: v.array(logprob) }),
);

/** One per prompt token. */
export const promptLogprobs: v.GenericSchema<unknown, readonly PromptTokenLogprobs[]> = v.array(
  v.object({ tokenId: count, logprob: v.nullable(v.number()), top: v.array(logprob) }),
);

const policy: v.GenericSchema<unknown, BatchingPolicy> = v.object({
  policy: v.picklist(['off', 'static', 'continuous']),
  maxBatchSize: count,
  batchWaitTimeoutMs: duration,
  maxBatchedTokens: count,
  maxQueuedRequests: countOrInfinity,
  prefixCaching: v.boolean(),
  kvCacheMemoryBytes: countOrInfinity,
});

export const overrideId = id<OverrideId>();

export const heldOverride: v.GenericSchema<unknown, HeldOverride> = v.object({ overrideId, policy });

const batchKnobs: v.GenericSchema<unknown, BatchKnobs> = v.object({
  maxBatchSize: count,
  batchWaitTimeoutMs: duration,
  maxConcurrentBatches: count,
});

const deploymentInfo: v.GenericSchema<unknown, DeploymentInfo> = v.object({ name, knobs: batchKnobs });

export const knobSettings: v.GenericSchema<unknown, KnobSettings> = v.object({
  revision: count,
  policy,
  deployments: v.array(deploymentInfo),
});

export const rung: v.GenericSchema<unknown, Rung> = v.picklist([
  'webgpu-fp16',
  'webgpu-fp32',
  'wasm-threads',
  'wasm',
]);

export const servedModel: v.GenericSchema<unknown, ServedModel> = v.object({
  id: v.string(),
  backend: v.picklist(['webgpu', 'wasm', 'upstream']),
  precision: v.picklist(['fp16', 'fp32', 'q8', 'q4', 'unknown']),
});

const faultEntries = {
  kind: v.picklist([
    'device-lost',
    'adapter-gone',
    'gpu-error',
    'gpu-hang',
    'out-of-memory',
    'wasm-abort',
    'run-failed',
    'worker-error',
    'worker-hang',
    'worker-ended',
  ]),
  message: v.string(),
};

export const fault: v.GenericSchema<unknown, Fault> = v.object(faultEntries);

export const recovery: v.GenericSchema<unknown, Recovery> = v.object({
  ...faultEntries,
  rung: v.exactOptional(rung),
  attempt: count,
  isCondemning: v.exactOptional(v.boolean()),
});

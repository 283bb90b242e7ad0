import {
  BackPressureError,
  type BackPressureDetails,
  ClosedError,
  InvalidOptionError,
  KvBudgetError,
  ModelRunError,
  RequestCancelledError,
  RequestTimeoutError,
  StopConditionError,
  UnknownOptionError,
} from '../../batching/errors.ts';
import { EmptyPromptError, PromptTooLongError, UnknownDeploymentError } from './errors/deployments.ts';
import {
  ModelFileCorruptError,
  ModelFileMissingError,
  ModelTooLargeError,
  UnsupportedDtypeError,
  UnsupportedModelError,
} from './errors/model.ts';
import {
  HubRateLimitError,
  HubUnavailableError,
  HubUnreachableError,
  LoadCancelledError,
  ModelAccessError,
  ModelNotFoundError,
  ModelStartError,
  ModelStoreError,
  StorageQuotaError,
} from './errors/hub.ts';
import type { WireError } from './wire.ts';
import {
  OverrideEndedError,
  OverrideHeldError,
  PageOutdatedError,
  VersionMismatchError,
} from './errors/tabs.ts';
import { DeviceLostError, NoWebGpuAdapterError } from './errors/runtime.ts';
import { isUpstreamErrorCode, UpstreamError } from './errors/upstream.ts';

/** An error from the wire with a code that this version does not know. */
export class ServeError extends Error {
  override readonly name = 'ServeError';
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Classes that are made from a message alone. */
const CLASS_OF_CODE: Readonly<Record<string, new (message: string) => Error>> = {
  CLOSED: ClosedError,
  DEVICE_LOST: DeviceLostError,
  EMPTY_PROMPT: EmptyPromptError,
  HUB_RATE_LIMITED: HubRateLimitError,
  HUB_UNAVAILABLE: HubUnavailableError,
  HUB_UNREACHABLE: HubUnreachableError,
  INVALID_OPTION: InvalidOptionError,
  KV_BUDGET: KvBudgetError,
  LOAD_CANCELLED: LoadCancelledError,
  MODEL_ACCESS_DENIED: ModelAccessError,
  MODEL_FILE_CORRUPT: ModelFileCorruptError,
  MODEL_FILE_MISSING: ModelFileMissingError,
  MODEL_NOT_FOUND: ModelNotFoundError,
  MODEL_RUN_FAILED: ModelRunError,
  MODEL_START_FAILED: ModelStartError,
  MODEL_TOO_LARGE: ModelTooLargeError,
  MODEL_STORE_FAILED: ModelStoreError,
  NO_WEBGPU_ADAPTER: NoWebGpuAdapterError,
  OVERRIDE_ENDED: OverrideEndedError,
  OVERRIDE_HELD: OverrideHeldError,
  PAGE_OUTDATED: PageOutdatedError,
  PROMPT_TOO_LONG: PromptTooLongError,
  REQUEST_CANCELLED: RequestCancelledError,
  REQUEST_TIMEOUT: RequestTimeoutError,
  STOP_CONDITION_FAILED: StopConditionError,
  STORAGE_QUOTA: StorageQuotaError,
  UNKNOWN_DEPLOYMENT: UnknownDeploymentError,
  UNKNOWN_OPTION: UnknownOptionError,
  UNSUPPORTED_DTYPE: UnsupportedDtypeError,
  UNSUPPORTED_MODEL: UnsupportedModelError,
  VERSION_MISMATCH: VersionMismatchError,
};

/** Any thrown value as it crosses the wire; what has no code of its own is `INTERNAL_ERROR`. Inverse: `fromWireError`. */
export function toWireError(error: unknown): WireError {
  if (error instanceof BackPressureError) {
    const { code, message, numQueuedRequests, maxQueuedRequests, retryAfterMs } = error;
    return { code, message, details: { numQueuedRequests, maxQueuedRequests, retryAfterMs } };
  }
  if (error instanceof Error) {
    const code = 'code' in error && typeof error.code === 'string' ? error.code : 'INTERNAL_ERROR';
    return { code, message: error.message };
  }
  return { code: 'INTERNAL_ERROR', message: String(error) };
}

/** The class that the code names, with the same message. Inverse: `toWireError`. */
export function fromWireError({ code, message, details }: WireError): Error {
  if (code === 'BACK_PRESSURE') return new BackPressureError(message, detailsOf(details));
  if (isUpstreamErrorCode(code)) return new UpstreamError(code, message);
  const KnownError = Object.hasOwn(CLASS_OF_CODE, code) ? CLASS_OF_CODE[code] : undefined;
  return KnownError ? new KnownError(message) : new ServeError(code, message);
}

function detailsOf({
  numQueuedRequests = 0,
  maxQueuedRequests = 0,
  retryAfterMs = 0,
}: NonNullable<WireError['details']> = {}): BackPressureDetails {
  return { numQueuedRequests, maxQueuedRequests, retryAfterMs };
}

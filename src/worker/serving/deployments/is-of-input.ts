import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { HandlerHungError } from '../../../protocol/errors/deployments.ts';
import { ModelFileMissingError } from '../../../protocol/errors/model.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { NoWebGpuAdapterError } from '../../../protocol/errors/runtime.ts';
import { NoRuntimeError, RuntimeFileError, WasmForbiddenError } from '../../../protocol/errors/worker.ts';

/** Errors of the model that a handler runs, or of the handler, which fail any input. */
const OF_ANY = [
  HandlerHungError,
  ModelFileMissingError,
  NoRuntimeError,
  NoWebGpuAdapterError,
  OnnxModelError,
  RuntimeFileError,
  RuntimeLostError,
  WasmForbiddenError,
];

/** Whether an error may be about the input of the request that it fails. */
export function isOfInput(error: unknown): error is Error {
  return error instanceof Error && !OF_ANY.some((OfAny) => error instanceof OfAny);
}

import { shown } from '../../batching/base/errors.ts';
import { MAX_DETAIL } from './coded-error.ts';
import { ModelFileMissingError } from './model.ts';

// Apart from the other messages of models, which a starting worker doesn't need.

/** For a file of an ONNX model. */
export function onnxFileMissing(url: string, status: string, cause?: unknown): ModelFileMissingError {
  return new ModelFileMissingError(
    `Couldn't read ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check the address, which is relative to the worker's script, and that its server has the file.`,
    { cause },
  );
}

/** For a file that the browser isn't allowed to ask for. */
export function fileBlocked(url: string, origin: string, cause: unknown): ModelFileMissingError {
  return new ModelFileMissingError(
    `Couldn't read ${shown(url, MAX_DETAIL)}: the Content-Security-Policy of the worker's script blocks ${origin}. Serve that script with \`connect-src 'self' ${origin}\`.`,
    { cause },
  );
}

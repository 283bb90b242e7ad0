import { shown } from '../../batching/base/errors.ts';
import { MAX_DETAIL } from './coded-error.ts';
import { ChatTemplateError, ModelFileCorruptError, ModelFileMissingError } from './model.ts';

// A tab makes the worker's errors again from their codes, without what is said here.

export function modelFileMissing(url: string, status: string, cause?: unknown): ModelFileMissingError {
  return new ModelFileMissingError(
    `Couldn't read the model file ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check that the model folder is complete and served, or name another one: connect({ model }).`,
    { cause },
  );
}

/** For a folder's config.json, without which the others aren't looked for. */
export function configMissing(url: string, status: string): ModelFileMissingError {
  return new ModelFileMissingError(
    `Couldn't read the model file ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check that the folder is served with config.json, the tokenizer and the weights. A GGUF file has no address: fetch it, and pass it as new File([blob], 'model.gguf').`,
  );
}

/** For a file that is of another kind than its name says. */
export function otherKindOfFile(file: string, kind: string): ModelFileCorruptError {
  return new ModelFileCorruptError(
    `${shown(file)} is no ${kind} file. Pick one, or a folder with config.json, the tokenizer and the weights.`,
  );
}

/** For a model that the browser has stored. */
export function storedModelCorrupt(id: string, detail: string): ModelFileCorruptError {
  return new ModelFileCorruptError(
    `The copy of ${id} on this device is damaged (${detail}) and was deleted. Load the model again.`,
  );
}

/** Words of a chat template that refuses messages for their roles. */
const ROLES = /\brole|alternat|system|\border|\bfirst\b|\blast\b/i;

/** By its own `raise_exception`. */
export function chatTemplateRefused(detail: string, cause?: unknown): ChatTemplateError {
  const remedy = ROLES.test(detail) ? 'Check the order of their roles.' : 'Change them as it asks.';
  return new ChatTemplateError(
    `The model's chat template refuses these messages: ${shown(detail, MAX_DETAIL)}. ${remedy}`,
    { cause },
  );
}

/** Not for the messages: the template itself fails. */
export function chatTemplateBroken(detail: string, cause?: unknown): ChatTemplateError {
  return new ChatTemplateError(
    `The model's chat template fails: ${shown(detail, MAX_DETAIL)}. Send messages of another form, or a text instead of a chat, or load another model.`,
    { cause },
  );
}

/** Rendering would block the worker for all tabs. */
export function chatTemplateEndless(detail: string, cause?: unknown): ChatTemplateError {
  return new ChatTemplateError(
    `The model's chat template was stopped: ${detail}. Load another model, or send a text instead of a chat.`,
    { cause },
  );
}

import { shown } from '../../batching/base/errors.ts';
import { ModelDeletedError, ModelInUseError } from '../../protocol/errors/hub.ts';
import {
  GgufChoiceError,
  ModelTooLargeError,
  NoChatTemplateError,
  ToolsUnsupportedError,
  UnsupportedDtypeError,
} from '../../protocol/errors/model.ts';

// The messages are here and not in the classes, which every page loads.

const MAX_NAMES = 300;

/** @param wanted Empty where none was asked for. */
export function ggufUnclear(wanted: string, names: readonly string[]): GgufChoiceError {
  const among =
    wanted === '' ? 'There are several GGUF files' : `No single GGUF file matches ${shown(wanted)}`;
  const list = names.length === 0 ? 'there is none' : `there are ${shown(names.join(', '), MAX_NAMES)}`;
  return new GgufChoiceError(
    `${among}: ${list}. Name one, as in \`owner/name:Q8_0\` or \`{ file: 'name.gguf' }\`.`,
  );
}

export function tooLarge(detail: string, numParameters: number): ModelTooLargeError {
  return new ModelTooLargeError(
    `The model of ${Math.round(numParameters / 1e6)} M parameters does not fit on this device: ${detail}. ` +
      'Choose a smaller model, or a smaller dtype (q8, q4).',
  );
}

export function dtypeNeeds(dtype: string, feature: string): UnsupportedDtypeError {
  return new UnsupportedDtypeError(
    `dtype ${dtype} needs a WebGPU adapter with ${feature}. Choose auto, fp32, q8 or q4.`,
  );
}

/** For a check, which downloads nothing. */
export function notStoredFor(id: string): UnsupportedDtypeError {
  return new UnsupportedDtypeError(
    `${id} is not stored in a precision that runs here. Load it with \`dtype: 'fp32'\`, q8 or q4.`,
  );
}

/** For a model whose activations exceed the range of fp16. */
export function dtypeTooNarrow(dtype: string): UnsupportedDtypeError {
  return new UnsupportedDtypeError(
    `dtype ${dtype} is too narrow for this model: its activations exceed fp16's range. Choose auto, fp32, q8 or q4.`,
  );
}

export function noChatTemplate(id: string): NoChatTemplateError {
  return new NoChatTemplateError(
    `${id} is a base model: it has no chat template. Send a text, or load a chat model, such as HuggingFaceTB/SmolLM2-135M-Instruct.`,
  );
}

/** For a chat whose messages have calls of tools, or their answers. */
export function noCalls(id: string): ToolsUnsupportedError {
  return new ToolsUnsupportedError(
    `${id} takes no messages about tools: its chat template has no known form of calls. Leave the calls and the messages with the role tool out, or load a model that takes them, such as Qwen/Qwen3-0.6B.`,
  );
}

export function noTools(id: string): ToolsUnsupportedError {
  return new ToolsUnsupportedError(
    `${id} takes no tools: its chat template doesn't read \`tools\`, or has no known form of calls. Leave \`tools\` out, or load a model that takes them, such as Qwen/Qwen3-0.6B.`,
  );
}

/** @param successor The model that runs instead; undefined if none does. */
export function deletedModel(id: string, successor?: string): ModelDeletedError {
  return new ModelDeletedError(
    `${id} is no longer on this device: it was deleted, or the site's data was cleared. ${successor ?? 'No model'} took over. Load ${id} again to go on with it.`,
  );
}

/** Its files are read or written now. */
export function modelIsLoaded(id: string): ModelInUseError {
  return new ModelInUseError(
    `${id} is being loaded: wait until it serves, or stop that with cancelLoad(), and delete it then.`,
  );
}

export function modelInUse(id: string): ModelInUseError {
  return new ModelInUseError(
    `${id} is in use: load another model first, or delete it all the same with deleteModel(key, { force: true }). It then runs until its tab closes.`,
  );
}

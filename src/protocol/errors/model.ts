import { shown } from '../../batching/base/errors.ts';
import { codedError } from './coded-error.ts';

/** Details may quote a hub, a folder or a chat template. */
const MAX_DETAIL = 300;

/** The app was connected without a model, and none has been loaded since. */
export class NoModelError extends codedError('NoModelError', 'NO_MODEL') {
  static of(): NoModelError {
    return new NoModelError(
      'No model that generates is loaded: the app began with none, or with an encoder. Call loadModel(), or name one at the start: connect({ model }), or `--model` of the server.',
    );
  }
}

/** A file of the model could not be read. */
export class ModelFileMissingError extends codedError('ModelFileMissingError', 'MODEL_FILE_MISSING') {
  static of(url: string, status: string, cause?: unknown): ModelFileMissingError {
    return new ModelFileMissingError(
      `Couldn't read the model file ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check that the model folder is complete and served, or name another one: connect({ model }).`,
      { cause },
    );
  }

  /** For a folder's config.json, without which the others aren't looked for. */
  static ofConfig(url: string, status: string): ModelFileMissingError {
    return new ModelFileMissingError(
      `Couldn't read the model file ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check that the folder is served with config.json, the tokenizer and the weights. A GGUF file has no address: fetch it, and pass it as new File([blob], 'model.gguf').`,
    );
  }

  /** For a file of an ONNX model. */
  static ofOnnx(url: string, status: string, cause?: unknown): ModelFileMissingError {
    return new ModelFileMissingError(
      `Couldn't read ${shown(url, MAX_DETAIL)}: ${shown(status, MAX_DETAIL)}. Check the address, which is relative to the worker's script, and that its server has the file.`,
      { cause },
    );
  }
}

/** A file of the model is damaged, or has other contents than its name says. */
export class ModelFileCorruptError extends codedError('ModelFileCorruptError', 'MODEL_FILE_CORRUPT') {
  static of(file: string, detail: string, cause?: unknown): ModelFileCorruptError {
    return new ModelFileCorruptError(
      `${shown(file)} is damaged: ${shown(detail, MAX_DETAIL)}. Load a complete copy of the model.`,
      { cause },
    );
  }

  /** For a file that is of another kind than its name says. */
  static ofOtherKind(file: string, kind: string): ModelFileCorruptError {
    return new ModelFileCorruptError(
      `${shown(file)} is no ${kind} file. Pick one, or a folder with config.json, the tokenizer and the weights.`,
    );
  }

  /** For a model that the browser has stored. */
  static ofStored(id: string, detail: string): ModelFileCorruptError {
    return new ModelFileCorruptError(
      `The copy of ${id} on this device is damaged (${detail}) and was deleted. Load the model again.`,
    );
  }
}

/** A repository or a folder has several GGUF files, or not the one that was asked for. */
export class GgufChoiceError extends codedError('GgufChoiceError', 'GGUF_FILE_UNCLEAR') {}

/** The files are fine, but Tabserve cannot run this kind of model. */
export class UnsupportedModelError extends codedError('UnsupportedModelError', 'UNSUPPORTED_MODEL') {
  /** @param example A model of the hub that would serve. */
  static of(detail: string, example = 'HuggingFaceTB/SmolLM2-135M-Instruct'): UnsupportedModelError {
    return new UnsupportedModelError(
      `${shown(detail, MAX_DETAIL)}. Choose another model, such as ${example}.`,
    );
  }
}

/** The model does not fit on this device. */
export class ModelTooLargeError extends codedError('ModelTooLargeError', 'MODEL_TOO_LARGE') {}

/** The device or the model cannot compute in the requested precision. */
export class UnsupportedDtypeError extends codedError('UnsupportedDtypeError', 'UNSUPPORTED_DTYPE') {}

/** A chat was sent to a model that was trained on plain text. */
export class NoChatTemplateError extends codedError('NoChatTemplateError', 'NO_CHAT_TEMPLATE') {}

/** Tools, or messages about calls, were sent to a model whose chat template takes none. */
export class ToolsUnsupportedError extends codedError('ToolsUnsupportedError', 'TOOLS_UNSUPPORTED') {}

/** Words of a chat template that refuses messages for their roles. */
const ROLES = /\brole|alternat|system|\border|\bfirst\b|\blast\b/i;

/** The model's chat template refuses the messages, or fails. */
export class ChatTemplateError extends codedError('ChatTemplateError', 'CHAT_TEMPLATE_FAILED') {
  /** By its own `raise_exception`. */
  static of(detail: string, cause?: unknown): ChatTemplateError {
    const remedy = ROLES.test(detail) ? 'Check the order of their roles.' : 'Change them as it asks.';
    return new ChatTemplateError(
      `The model's chat template refuses these messages: ${shown(detail, MAX_DETAIL)}. ${remedy}`,
      { cause },
    );
  }

  /** Not for the messages: the template itself fails. */
  static broken(detail: string, cause?: unknown): ChatTemplateError {
    return new ChatTemplateError(
      `The model's chat template fails: ${shown(detail, MAX_DETAIL)}. Send messages of another form, or a text instead of a chat, or load another model.`,
      { cause },
    );
  }

  /** Rendering would block the worker for all tabs. */
  static endless(detail: string, cause?: unknown): ChatTemplateError {
    return new ChatTemplateError(
      `The model's chat template was stopped: ${detail}. Load another model, or send a text instead of a chat.`,
      { cause },
    );
  }
}

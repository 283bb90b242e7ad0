import { shown } from '../../batching/base/errors.ts';
import { codedError, MAX_DETAIL } from './coded-error.ts';

/** The app was connected without a model, and none has been loaded since. */
export class NoModelError extends codedError('NoModelError', 'NO_MODEL') {
  static of(): NoModelError {
    return new NoModelError(
      'No model that generates is loaded: the app began with none, or with an encoder. Call loadModel(), or name one at the start: connect({ model }), or `--model` of the server.',
    );
  }
}

/** A file of the model could not be read. */
export class ModelFileMissingError extends codedError('ModelFileMissingError', 'MODEL_FILE_MISSING') {}

/** A file of the model is damaged, or has other contents than its name says. */
export class ModelFileCorruptError extends codedError('ModelFileCorruptError', 'MODEL_FILE_CORRUPT') {
  static of(file: string, detail: string, cause?: unknown): ModelFileCorruptError {
    return new ModelFileCorruptError(
      `${shown(file)} is damaged: ${shown(detail, MAX_DETAIL)}. Load a complete copy of the model.`,
      { cause },
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

/** The model's chat template refuses the messages, or fails. */
export class ChatTemplateError extends codedError('ChatTemplateError', 'CHAT_TEMPLATE_FAILED') {}

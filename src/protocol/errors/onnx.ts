import { shown } from '../../batching/base/errors.ts';
import { codedError } from './coded-error.ts';

/** Limit of what is quoted of the runtime's message. */
const MAX_DETAIL = 400;

/** An ONNX model of a deployment could not be loaded, or a run of it failed. */
export class OnnxModelError extends codedError('OnnxModelError', 'ONNX_MODEL_FAILED') {
  /** @param reason What the runtime says. */
  static notLoaded(url: string, reason: string, cause?: unknown): OnnxModelError {
    return new OnnxModelError(
      `${shown(url)} can't be loaded: ${shown(reason, MAX_DETAIL)}. Export it with operators that onnxruntime-web has, and pass the files that lie beside it in \`externalData\`.`,
      { cause },
    );
  }

  /** @param reason What the runtime says. */
  static notRun(url: string, reason: string, cause?: unknown): OnnxModelError {
    return new OnnxModelError(
      `A run of ${shown(url)} failed: ${shown(reason, MAX_DETAIL)}. Compare the inputs with the model's \`inputs\`.`,
      { cause },
    );
  }

  static notTensor(url: string, name: string): OnnxModelError {
    return new OnnxModelError(
      `\`${shown(name)}\` of ${shown(url)} is a sequence or a map: export the model with tensors alone, as with \`zipmap=False\` for scikit-learn.`,
    );
  }
}

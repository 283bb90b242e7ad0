import { shown } from '../../batching/base/errors.ts';
import { codedError } from './coded-error.ts';

/** Limit of what is quoted of the runtime's message. */
const MAX_DETAIL = 400;

/** An ONNX model of a deployment could not be loaded, or a run of it failed. */
export class OnnxModelError extends codedError('OnnxModelError', 'ONNX_MODEL_FAILED') {
  /**
   * @param reason What the runtime says.
   * @param backend Where it was to run.
   */
  static notLoaded(url: string, reason: string, backend: string, cause?: unknown): OnnxModelError {
    const remedy =
      backend === 'webgpu'
        ? "Load it with `backend: 'wasm'`, which has more operators and types"
        : 'Export it with operators that onnxruntime-web has';
    return new OnnxModelError(`${shown(url)} can't be loaded: ${shown(reason, MAX_DETAIL)}. ${remedy}.`, {
      cause,
    });
  }

  /**
   * @param path Of a file that the model names.
   * @param given The paths of the files that are there.
   */
  static withoutFile(url: string, path: string, given: readonly string[]): OnnxModelError {
    const has = given.length === 0 ? '' : `, which has ${given.map((each) => `'${shown(each)}'`).join(', ')}`;
    return new OnnxModelError(
      `${shown(url)} needs the file '${shown(path)}' beside it: pass its address, or the file, under this path in \`externalData\`${has}.`,
    );
  }

  static ofCutFile(url: string, path: string, numBytes: number, numNeeded: number): OnnxModelError {
    return new OnnxModelError(
      `'${shown(path)}' in \`externalData\` has ${numBytes} bytes, and ${shown(url)} reads ${numNeeded}: pass the whole file, of the same export.`,
    );
  }

  /** @param reason What the runtime says. */
  static notRun(url: string, reason: string, cause?: unknown): OnnxModelError {
    return new OnnxModelError(
      `A run of ${shown(url)} failed: ${shown(reason, MAX_DETAIL)}. Compare the inputs with the model's \`inputs\`.`,
      { cause },
    );
  }

  /** @param name Of an input or output. */
  static ofName(url: string, name: string): OnnxModelError {
    return new OnnxModelError(
      `An input or output of ${shown(url)} is called \`${shown(name)}\`, which no object can hold: rename it.`,
    );
  }

  /** For an output that isn't a list of rows. */
  static ofRows(reason: string, remedy: string): OnnxModelError {
    return new OnnxModelError(`There are no rows of numbers: ${shown(reason)}. Instead, ${remedy}.`);
  }

  static notTensor(url: string, name: string): OnnxModelError {
    return new OnnxModelError(
      `\`${shown(name)}\` of ${shown(url)} is a sequence or a map: export the model with tensors alone, as with \`zipmap=False\` for scikit-learn.`,
    );
  }
}

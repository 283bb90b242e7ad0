import type { InferenceSession } from 'onnxruntime-web/jspi';
import { InvalidOptionError, textOf } from '../../../batching/base/errors.ts';
import { OnnxModelError } from '../../../protocol/errors/onnx.ts';
import { WasmAbortError } from '../faults/runtime-errors.ts';
import { isRecord } from '../../../platform/is-record.ts';
import { isWasmAbort } from '../faults/fault-of.ts';
import { readFeed } from './onnx-feed.ts';
import { checkExternalFiles, dimensionNames, readOnnxFile, type OnnxSource } from './onnx-files.ts';
import { createOnnxSession, isCoded, type OnnxBackend, type OnnxSession } from './onnx-session.ts';
import { checkOnnxOptions, type OnnxModelOptions } from './onnx-options.ts';
import { asTensor, isTensorType, type OnnxFeed, type OnnxTensor, type OnnxValueInfo } from './onnx-tensor.ts';
import { ortMutex, type OrtModule } from './ort.ts';
import { unknownOption } from '../../../batching/base/unknown-option-error.ts';

/** An ONNX model of a deployment. */
export interface OnnxModel {
  /** What `run` takes. */
  readonly inputs: readonly OnnxValueInfo[];
  /** What `run` gives. */
  readonly outputs: readonly OnnxValueInfo[];
  /** Where it runs. */
  readonly backend: 'wasm' | 'webgpu';
  /**
   * Runs one batch, never at the same time as another run in the worker.
   *
   * @param feeds A value for each input, by its name.
   * @returns The outputs, by their names.
   * @throws InvalidOptionError, UnknownOptionError for a value that the model doesn't take; OnnxModelError if the run fails; WasmAbortError where the
   *   runtime aborted: nothing runs in this worker any more.
   */
  run(feeds: Readonly<Record<string, OnnxFeed>>): Promise<Readonly<Record<string, OnnxTensor>>>;
}

/**
 * Makes a loader for the handler of a deployment.
 *
 * @param source Of the `.onnx` file: on a hub `https://huggingface.co/owner/name/resolve/main/model.onnx`.
 * @returns A function that fetches the model with its first call, and again after a call that failed. It rejects with
 *   ModelFileMissingError if a file can't be fetched, with OnnxModelError if the model can't be loaded, and with
 *   NoWebGpuAdapterError where WebGPU is wanted and isn't there.
 * @throws InvalidOptionError, UnknownOptionError for a source that is none, and for options that aren't there.
 */
export function loadOnnxModel(source: OnnxSource, options: OnnxModelOptions = {}): () => Promise<OnnxModel> {
  const checked = checkOnnxOptions(source, options);
  let loading: Promise<OnnxModel> | undefined;
  return async () => {
    loading ??= createModel(source, checked);
    try {
      return await loading;
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}

async function createModel(
  source: OnnxSource,
  { backend = 'wasm', externalData = {}, session: given }: OnnxModelOptions,
): Promise<OnnxModel> {
  const name = nameOf(source);
  const [bytes, external] = await Promise.all([
    readOnnxFile(source),
    Promise.all(
      Object.entries(externalData).map(async ([path, file]) => ({ path, data: await readOnnxFile(file) })),
    ),
  ]);
  checkExternalFiles(name, bytes, external);
  if (given?.freeDimensionOverrides) checkDimensions(given.freeDimensionOverrides, bytes);
  const options = { ...given, ...(external.length > 0 && { externalData: external }) };
  const session = await createOnnxSession(bytes, backend, options).catch((cause: unknown): never => {
    if (isCoded(cause)) throw cause;
    throw OnnxModelError.notLoaded(name, messageOf(cause), backend, cause);
  });
  return new SessionModel(name, session);
}

/** The runtime takes a name that no dimension has. */
function checkDimensions(overrides: Readonly<Record<string, number>>, bytes: Uint8Array): void {
  const names = dimensionNames(bytes);
  const unknown = Object.keys(overrides).find((name) => !names.includes(name));
  if (unknown !== undefined) throw unknownOption(`freeDimensionOverrides.${unknown}`, names);
}

class SessionModel implements OnnxModel {
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
  readonly backend: OnnxBackend;
  readonly #name: string;
  readonly #ort: OrtModule;
  readonly #session: InferenceSession;

  constructor(name: string, { backend, ort, session }: OnnxSession) {
    this.backend = backend;
    this.#name = name;
    this.#ort = ort;
    this.#session = session;
    this.inputs = session.inputMetadata.map((value) => infoOf(name, value));
    this.outputs = session.outputMetadata.map((value) => infoOf(name, value));
  }

  async run(feeds: Readonly<Record<string, OnnxFeed>>): Promise<Readonly<Record<string, OnnxTensor>>> {
    const names = this.inputs.map((input) => input.name);
    const expected = `an object with values for the inputs ${names.join(', ')}`;
    if (!isRecord(feeds)) throw InvalidOptionError.of('feeds', expected, feeds);
    const unknown = Object.keys(feeds).find((given) => !names.includes(given));
    if (unknown !== undefined) throw InvalidOptionError.of('feeds', expected, unknown);
    const tensors = this.inputs.map((input) => {
      const { name, type } = input;
      const { data, dims } = readFeed(input, Object.hasOwn(feeds, name) ? feeds[name] : undefined);
      return [name, new this.#ort.Tensor(type, data, dims)] as const;
    });
    const outputs = await ortMutex
      .run(() => this.#session.run(Object.fromEntries(tensors)))
      .catch((cause: unknown): never => {
        throw isWasmAbort(cause)
          ? WasmAbortError.because(cause)
          : OnnxModelError.notRun(this.#name, messageOf(cause), cause);
      });
    return Object.fromEntries(
      Object.entries(outputs).map(([output, { type, data, dims }]) => [output, asTensor(type, data, dims)]),
    );
  }
}

/** The runtime gives the -1 of a dimension without a name as an unsigned number. */
const UNNAMED = 2 ** 32 - 1;

function infoOf(model: string, value: InferenceSession.ValueMetadata): OnnxValueInfo {
  if (value.name === '__proto__') throw OnnxModelError.ofName(model, value.name);
  if (!value.isTensor || !isTensorType(value.type)) throw OnnxModelError.notTensor(model, value.name);
  const { name, type } = value;
  return { name, type, shape: value.shape.map((length) => (length === UNNAMED ? -1 : length)) };
}

function nameOf(source: OnnxSource): string {
  if (source instanceof Blob) return source instanceof File ? source.name : 'the model';
  return String(source);
}

/** Without the places in the runtime's own source, which its message names. */
function messageOf(cause: unknown): string {
  const message = cause instanceof Error ? cause.message : textOf(cause);
  const said = message.split('ERROR_MESSAGE: ').at(-1) ?? '';
  const words = said.split(/\s/).filter((word) => word !== '' && !/\.(?:cc|h):\d/.test(word));
  return words.join(' ').replace(/\.$/, '');
}

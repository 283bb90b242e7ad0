import { parseOptions } from '../../../batching/base/parse-options.ts';
import { integerIn, oneOf, validator, type Validators } from '../../../batching/base/validate.ts';
import { isRecord } from '../../../platform/is-record.ts';
import type { OnnxSource } from './onnx-files.ts';

/** How an ONNX model is loaded and run. */
export interface OnnxModelOptions {
  /**
   * Where it runs: on the CPU by default. `auto`: on WebGPU where there is a GPU and onnxruntime has the model's operators and types
   * there, else on the CPU.
   */
  readonly backend?: 'wasm' | 'webgpu' | 'auto' | undefined;
  /** Files that the model names beside itself, by their paths there. */
  readonly externalData?: Readonly<Record<string, OnnxSource>> | undefined;
  /** How onnxruntime makes its session. */
  readonly session?: OnnxSessionOptions | undefined;
}

/** Options of onnxruntime's session, under its own names. */
export interface OnnxSessionOptions {
  /** How far the graph is optimized; `all` by default. */
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'layout' | 'all';
  /** Lengths of dimensions that the model only names, by their names. Some optimizations need them. */
  readonly freeDimensionOverrides?: Readonly<Record<string, number>>;
  /** What it writes on the console: from 0, everything, to 4, what ends the session. */
  readonly logSeverityLevel?: 0 | 1 | 2 | 3 | 4;
  /** Its configuration entries. */
  readonly extra?: Record<string, unknown>;
}

const LOG_LEVELS = [0, 1, 2, 3, 4] as const;
const isLength = integerIn({ from: 0 });

const SESSION: Validators<OnnxSessionOptions> = {
  graphOptimizationLevel: oneOf('disabled', 'basic', 'extended', 'layout', 'all'),
  freeDimensionOverrides: validator('an object with a length for each name', (value, refuse, option) => {
    if (!isRecord(value)) throw refuse(value);
    return Object.fromEntries(
      Object.entries(value).map(([name, length]) => [name, isLength(`${option}.${name}`, length)]),
    );
  }),
  logSeverityLevel: validator(`one of ${LOG_LEVELS.join(', ')}`, (value, refuse) => {
    const level = LOG_LEVELS.find((each) => each === value);
    if (level === undefined) throw refuse(value);
    return level;
  }),
  extra: validator("an object of onnxruntime's entries", (value, refuse) => {
    if (isRecord(value)) return value;
    throw refuse(value);
  }),
};

const isSource = validator('an address, a URL or a Blob', (value, refuse): OnnxSource => {
  if (value instanceof URL || value instanceof Blob || (typeof value === 'string' && value !== ''))
    return value;
  throw refuse(value);
});

const OPTIONS: Validators<OnnxModelOptions> = {
  backend: oneOf('wasm', 'webgpu', 'auto'),
  externalData: validator('an object with a file for each path', (value, refuse, option) => {
    if (!isRecord(value)) throw refuse(value);
    return Object.fromEntries(
      Object.entries(value).map(([path, file]) => [path, isSource(`${option}.${path}`, file)]),
    );
  }),
  session: validator("an object of onnxruntime's options", (value) =>
    parseOptions('session', SESSION, value),
  ),
};

/** @throws InvalidOptionError, UnknownOptionError. */
export function checkOnnxOptions(source: unknown, options: unknown): OnnxModelOptions {
  isSource('source', source);
  return parseOptions('options', OPTIONS, options);
}

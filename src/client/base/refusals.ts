import { InvalidOptionError, UnknownOptionError } from '../../batching/base/errors.ts';
import { validator } from '../../batching/base/validate.ts';
import { isRecord } from '../../platform/is-record.ts';
import { MAX_INPUTS, MAX_NAME_LENGTH } from '../../protocol/wire.ts';

/** Refuses what no deployment is called, before it is sent. */
export function nameRefusal(deployment: unknown): InvalidOptionError | undefined {
  if (typeof deployment === 'string' && deployment.length <= MAX_NAME_LENGTH) return undefined;
  const expected = `a deployment's name of at most ${MAX_NAME_LENGTH} characters`;
  return InvalidOptionError.of('name', expected, deployment);
}

/** Of a `remoteAll`, whose inputs are accepted together or not at all. */
export function inputsRefusal(inputs: unknown): InvalidOptionError | undefined {
  if (!Array.isArray(inputs)) return InvalidOptionError.of('inputs', 'a list', inputs);
  if (inputs.length <= MAX_INPUTS) return undefined;
  const expected = `a list of at most ${MAX_INPUTS} inputs, which are accepted together`;
  return InvalidOptionError.of('inputs', expected, `${inputs.length} inputs`);
}

/** As optionsRefusal, for a call. @throws InvalidOptionError. */
export function checkedOptions<Options extends object>(
  options: Options | null | undefined,
  known?: readonly (keyof Options & string)[],
): Partial<Options> {
  const refusal = optionsRefusal(options, known);
  if (refusal) throw refusal;
  return options ?? {};
}

/**
 * @param options Of a request or a call.
 * @param known All options that there are. Left out where the worker knows them.
 */
export function optionsRefusal(options: unknown, known?: readonly string[]): Error | undefined {
  if (options === undefined || options === null) return undefined;
  if (!isRecord(options)) return InvalidOptionError.of('options', 'an object', options);
  for (const name of known ? Object.keys(options) : [])
    if (options[name] !== undefined && !known?.includes(name))
      return UnknownOptionError.of(name, `the options are ${known?.join(', ')}`);
  const { signal, onProgress } = options;
  if (signal !== undefined && !isSignal(signal))
    return InvalidOptionError.of('signal', 'an AbortSignal', signal);
  return onProgress === undefined ? undefined : functionRefusal('onProgress', onProgress);
}

export const isClient = /* @__PURE__ */ validator(
  'a client, as `await connect({ worker })` gives it',
  (value, refuse): unknown => {
    if (typeof Object(value).getHandle === 'function') return value;
    throw refuse(value);
  },
);

export function functionRefusal(name: string, value: unknown): InvalidOptionError | undefined {
  return typeof value === 'function' ? undefined : InvalidOptionError.of(name, 'a function', value);
}

/** Also that of another window. */
export function isSignal(signal: unknown): boolean {
  return isRecord(signal) && typeof signal['addEventListener'] === 'function';
}

import { describe, expect, it, vi } from 'vitest';
import { noWebGpuAdapter, gpuWrongValues, deviceLost } from '../../../protocol/errors/runtime-messages.ts';
import { AdapterGoneError, GpuError, StepHangError, WasmAbortError } from './runtime-errors.ts';
import { RuntimeLostError } from '../../../batching/generation/runtime-lost-error.ts';
import { faultOf, faultOfWorker, isFault } from './fault-of.ts';
import { modelFileMissing } from '../../../protocol/errors/model-messages.ts';

class FakeOutOfMemoryError {
  readonly message = 'no room';
}

describe('faultOf', () => {
  it.each([
    ['device-lost', deviceLost('unplugged')],
    ['adapter-gone', AdapterGoneError.because(new Error('none'))],
    ['gpu-hang', StepHangError.after(30_000)],
    ['gpu-error', new GpuError('WebGPU error: buffer', false)],
    ['out-of-memory', new GpuError('WebGPU error: buffer', true)],
    ['out-of-memory', new RangeError('Array buffer allocation failed')],
    ['out-of-memory', new RangeError('Invalid typed array length: 99999999999')],
    ['out-of-memory', new Error('failed to call OrtRun(): ERROR_CODE: 6, std::bad_alloc')],
    ['out-of-memory', new WebAssembly.RuntimeError('Aborted(OOM)')],
    ['wasm-abort', new WebAssembly.RuntimeError('unreachable')],
    ['wasm-abort', new Error('Aborted(). Build with -sASSERTIONS for more info.')],
    ['wasm-abort', WasmAbortError.because(new Error('unreachable'))],
    ['run-failed', new Error('failed to call OrtRun(): ERROR_CODE: 1')],
    ['run-failed', 'a thrown text'],
  ] as const)('calls it %s: %s', (kind, cause) => {
    expect(faultOf(cause)).toEqual({ kind, message: cause instanceof Error ? cause.message : cause });
  });

  it('tells a GPU’s want of memory by its class', () => {
    vi.stubGlobal('GPUOutOfMemoryError', FakeOutOfMemoryError);
    const error = GpuError.of(new FakeOutOfMemoryError());
    expect(faultOf(error)).toEqual({ kind: 'out-of-memory', message: 'WebGPU error: no room' });
    vi.unstubAllGlobals();
  });
});

it('wrong values of a GPU are a fault, told without the remedy: another rung may do better', () => {
  const cause = gpuWrongValues('float16', 'row 3 of a batch');
  expect(isFault(cause)).toBe(true);
  expect(faultOf(cause)).toEqual({
    kind: 'wrong-values',
    message: 'This GPU computes wrong values in fp16 (row 3 of a batch)',
  });
  expect(cause.message).toContain('?backend=wasm');
});

describe('faultOfWorker', () => {
  it('is that of what has ended the runtime, or of an error that nobody has caught', () => {
    const cause = deviceLost('unplugged');
    expect(faultOfWorker(new RuntimeLostError(cause))).toEqual({
      kind: 'device-lost',
      message: cause.message,
    });
    expect(faultOfWorker(cause)).toEqual({ kind: 'worker-error', message: cause.message });
  });
});

describe('isFault', () => {
  it.each([
    [true, 'what the runtime throws', new Error('failed to call OrtRun()')],
    [true, 'a lost device', deviceLost('unplugged')],
    [true, 'a chunk that cannot be fetched', new TypeError('Failed to fetch dynamically imported module')],
    [false, 'a missing file', modelFileMissing('config.json', 'HTTP status 404')],
    [false, 'a browser without an adapter', noWebGpuAdapter('none')],
  ])('is %s for %s', (expected, _, cause) => {
    expect(isFault(cause)).toBe(expected);
  });
});

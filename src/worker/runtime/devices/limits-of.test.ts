import { afterEach, expect, it, vi } from 'vitest';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import { limitsOf } from './create-backend.ts';

const GIBIBYTE = 2 ** 30;
const DEVICE = { rung: 'wasm', runtime: new CpuRuntime(1), fallbackReason: '' } as const;

afterEach(() => vi.unstubAllGlobals());

it.each([
  [4, 4 * GIBIBYTE, 2 * GIBIBYTE],
  // The browser stops at 8, which may stand for more.
  [8, undefined, 4 * GIBIBYTE],
  [undefined, undefined, 2 * GIBIBYTE],
])('halves the memory for a check, whose model is there twice: %s GiB', (deviceMemory, alone, beside) => {
  vi.stubGlobal('navigator', deviceMemory === undefined ? {} : { deviceMemory });
  expect(limitsOf(DEVICE).memoryBytes).toBe(alone);
  expect(limitsOf({ ...DEVICE, isTrial: true }).memoryBytes).toBe(beside);
});

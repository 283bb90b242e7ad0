import { describe } from 'vitest';
import { testOperations } from '../testing/operation-suite.ts';
import { CpuBackend } from './cpu-backend.ts';
import { CpuEncoder } from './cpu-encoder.ts';

describe.each([
  ['fp32', 1e-6],
  ['q8', 2e-2],
  ['q4', 1e-3],
] as const)('the CPU engine in %s', (dtype, tolerance) => {
  testOperations({
    dtype,
    tolerance,
    createBackend: (model) => CpuBackend.create(model),
    createEncoder: (model, encoder) => CpuEncoder.create(model, encoder),
  });
});

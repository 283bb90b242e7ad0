import { expect, it } from 'vitest';
import { CpuRuntime } from '../../cpu/cpu-runtime.ts';
import { CpuPlan } from '../../cpu/plan/cpu-plan.ts';
import { checkDevice } from './check-device.ts';

const MODEL = { modelType: 'gpt2', dtype: 'fp32', precision: 'float32' } as const;

it('says that a CPU computes the known values, and how fast it reads memory', async () => {
  const { bytesPerSecond, ...found } = await checkDevice(new CpuRuntime(1), MODEL);
  expect(found).toEqual({ values: 'right', where: '' });
  // A slow machine reads 1 GB/s, and none reads more than 1 TB/s by one thread.
  expect(bytesPerSecond).toBeGreaterThan(1e8);
  expect(bytesPerSecond).toBeLessThan(1e12);
});

it('says where a CPU computes wrong values', async () => {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { run } = CpuPlan.prototype;
  CpuPlan.prototype.run = async function wrong(pass, inputs) {
    const runMs = await run.call(this, pass, inputs);
    if (pass.numTokens > 33) this.logits.row(pass.firstLogitRow).fill(1);
    return runMs;
  };
  try {
    const { values, where } = await checkDevice(new CpuRuntime(1), MODEL);
    expect(values).toBe('wrong');
    expect(where).toBe('single rows of a batch');
  } finally {
    CpuPlan.prototype.run = run;
  }
});

it('says that there are no known values for a model of another type', async () => {
  const found = await checkDevice(new CpuRuntime(1), { ...MODEL, modelType: 'unheard-of' });
  expect(found).toMatchObject({ values: 'unknown', where: '' });
});

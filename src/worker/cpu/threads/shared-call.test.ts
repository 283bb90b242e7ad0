import { Worker } from 'node:worker_threads';
import { afterEach, expect, it } from 'vitest';
import { CpuMemory } from '../memory/cpu-memory.ts';
import { loadKernels, RESERVED_BYTES } from '../kernels/load-kernels.ts';
import { startThreads } from './kernel-threads.ts';
import { SharedCall } from './shared-call.ts';

const [ROWS, INPUTS] = [3, 40];
const threads: Worker[] = [];

afterEach(() => Promise.all(threads.splice(0).map((thread) => thread.terminate())));

async function start(given: object): Promise<void> {
  const thread = new Worker(new URL('test-support.ts', import.meta.url), { workerData: given });
  threads.push(thread);
  await new Promise((resolve) => void thread.once('message', resolve));
}

/** A thread that fails once it has started. */
function startFailing(_: object, onFailure: () => void): Promise<void> {
  onFailure();
  return Promise.resolve();
}

/** Kernels on so many threads, and a product of seeded values with them. */
async function multiplyOn(numThreads: number, numOutputs: number): Promise<Float32Array> {
  const memory = new CpuMemory(RESERVED_BYTES, 0, true);
  const { module, kernels: own } = await loadKernels(memory.memory, true);
  const { kernels, end } = await startThreads(module, memory.memory, own, numThreads, start);
  const place = (length: number): number => {
    const { address } = memory.allocate(4 * length);
    memory.floatsAt(address, length).set(Float32Array.from({ length }, (_, i) => Math.sin(i * i)));
    return address;
  };
  const [x, weights, out] = [ROWS * INPUTS, numOutputs * INPUTS, ROWS * numOutputs].map(place);
  kernels.multiplyFloat(x ?? 0, INPUTS, weights ?? 0, 0, out ?? 0, numOutputs, ROWS, INPUTS, 0, numOutputs);
  end();
  return memory.floatsAt(out ?? 0, ROWS * numOutputs).slice();
}

it.each([100, 16, 1])('computes the same %i outputs on one thread and on three', async (numOutputs) => {
  expect(await multiplyOn(3, numOutputs)).toEqual(await multiplyOn(1, numOutputs));
});

it('throws where a kernel traps, as the kernel does on its own', async () => {
  const memory = new CpuMemory(RESERVED_BYTES, 0, true);
  const { kernels } = await loadKernels(memory.memory, true);
  const outside = 2 ** 31;
  expect(() =>
    new SharedCall().make(kernels, 'multiplyFloat', [outside, 4, 0, 0, outside, 4, 1, 4, 0, 4], 1),
  ).toThrow(WebAssembly.RuntimeError);
});

it('throws where a thread is dead, instead of waiting for it', async () => {
  const memory = new CpuMemory(RESERVED_BYTES, 0, true);
  const { module, kernels: own } = await loadKernels(memory.memory, true);
  const call = new SharedCall();
  const nothing = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  await start({ module, memory: memory.memory, call: call.buffer, thread: 1, numThreads: 2 });
  call.make(own, 'multiplyFloat', nothing, 2);
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()));
  expect(() => call.make(own, 'multiplyFloat', nothing, 2, 1)).toThrow("doesn't answer");
});

it('throws at once where a thread has told of its failure', async () => {
  const memory = new CpuMemory(RESERVED_BYTES, 0, true);
  const { module, kernels: own } = await loadKernels(memory.memory, true);
  const { kernels } = await startThreads(module, memory.memory, own, 2, startFailing);
  expect(() => kernels.multiplyFloat(0, 0, 0, 0, 0, 0, 0, 0, 0, 0)).toThrow('has failed');
});

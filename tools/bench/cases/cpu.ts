import {
  compileKernels,
  instantiateKernels,
  type KernelVariant,
} from '../../../src/worker/cpu/kernels/compile-kernels.ts';
import { MODULE_NAMES } from '../../../src/worker/cpu/cpu-runtime.ts';
import { type Kernels } from '../../../src/worker/cpu/kernels/kernels.ts';
import { readKernels } from '../../../src/worker/cpu/kernels/load-kernels.ts';
import { measureMemory } from '../../../src/worker/cpu/kernels/memory-rate.ts';
import type { BenchCase, Group, Samples, Subject } from '../bench-case.ts';
import type { Column } from '../record.ts';

/** The matrices of SmolLM2-135M, by inputs and outputs. */
const SHAPES = [
  [576, 960],
  [576, 3072],
  [1536, 576],
] as const;
const ROW_COUNTS = [1, 4, 8, 40];
const VARIANTS: readonly KernelVariant[] = ['relaxed-simd', 'simd'];

/** More weights than a cache holds, so that each product reads its own from the memory, as in a model. */
const WEIGHT_BYTES = 2 ** 27;
/** Before the weights: rows, scales and outputs. */
const WEIGHTS = 2 ** 25;
const [X, QUANTIZED, SCALES, OUT] = [64, 2 ** 22, 2 ** 23, 2 ** 24];
const PAGE_BYTES = 2 ** 16;

/** The best of as many products as fit into this time. */
const MEASURED_MS = 100;

const COLUMNS: readonly Column[] = [
  { name: 'GMAC/s', digits: 1, shows: 'max' },
  { name: 'GB/s of weights', digits: 1, shows: 'max' },
];

export const bench: BenchCase = {
  summary: 'the products of the CPU’s kernels, in Node, beside what the memory gives',
  rounds: 5,
  async run({ isShort }, measure) {
    const measuredMs = isShort ? 1 : MEASURED_MS;
    const benches = await Promise.all(VARIANTS.map((variant) => productBench(variant, measuredMs)));
    await measure({
      key: 'cpu',
      browser: `Node ${process.version}`,
      note: 'The best product of a round, on one thread.',
      groups: [memoryGroup(measuredMs), ...SHAPES.map((shape) => productGroup(shape, benches))],
    });
  },
};

function memoryGroup(measuredMs: number): Group {
  const variant = 'relaxed-simd';
  const measure = async (): Promise<Samples> => ({
    'GB/s of weights': (await measureMemory(variant, measuredMs)) / 1e9,
  });
  return {
    caption: 'Sums of bytes, which show the rate of the memory',
    labels: ['module'],
    columns: COLUMNS.slice(1),
    subjects: [{ labels: [MODULE_NAMES[variant]], measure }],
  };
}

function productGroup([inputs, outputs]: readonly [number, number], benches: readonly ProductBench[]): Group {
  const subjects = ROW_COUNTS.flatMap((rows) =>
    FORMATS.flatMap((format) =>
      benches.map((each): Subject => ({
        labels: [`${rows}`, format.name, MODULE_NAMES[each.variant]],
        measure: () => each.multiply(format, { rows, inputs, outputs }),
      })),
    ),
  );
  return {
    caption: `${inputs} inputs, ${outputs} outputs`,
    labels: ['rows', 'weights', 'module'],
    columns: COLUMNS,
    subjects,
  };
}

interface Size {
  readonly rows: number;
  readonly inputs: number;
  readonly outputs: number;
}

interface Format {
  readonly name: string;
  readonly bits: number;
  /** Bits for each weight beside its own: scales, and integers that stand for 0. */
  readonly extraBits: number;
  readonly quantize: (kernels: Kernels, size: Size) => void;
  readonly multiply: (kernels: Kernels, size: Size, weights: number) => void;
}

const FORMATS: readonly Format[] = [
  {
    name: 'fp32',
    bits: 32,
    extraBits: 0,
    quantize: () => undefined,
    multiply: (kernels, { rows, inputs, outputs }, weights) =>
      kernels.multiplyFloat(X, inputs, weights, 0, OUT, outputs, rows, inputs, 0, outputs),
  },
  {
    name: 'int8',
    bits: 8,
    extraBits: 0,
    quantize: (kernels, { rows, inputs }) =>
      kernels.quantizeForInt8(X, inputs, QUANTIZED, rows, inputs, 64, OUT),
    multiply: (kernels, { rows, inputs, outputs }, weights) =>
      kernels.multiplyInt8(QUANTIZED, weights, SCALES, SCALES, 0, OUT, outputs, rows, inputs, 0, outputs),
  },
  {
    name: '4 bits',
    bits: 4,
    extraBits: 1.125,
    quantize: (kernels, { rows, inputs }) => kernels.quantizeForInt4(X, inputs, QUANTIZED, rows, inputs),
    multiply: (kernels, { rows, inputs, outputs }, weights) => {
      const scales = weights + (inputs * outputs) / 2;
      const zeroPoints = scales + (inputs * outputs) / 8;
      kernels.multiplyInt4(QUANTIZED, weights, scales, zeroPoints, 0, OUT, outputs, rows, inputs, 0, outputs);
    },
  },
];

type ProductBench = Awaited<ReturnType<typeof productBench>>;

/** A module over weights of its own. */
async function productBench(variant: KernelVariant, measuredMs: number) {
  const numPages = (WEIGHTS + WEIGHT_BYTES) / PAGE_BYTES + 1;
  const memory = new WebAssembly.Memory({ initial: numPages, maximum: numPages });
  new Float32Array(memory.buffer).fill(0.01);
  const module = await compileKernels(await readKernels(variant), { isShared: false });
  const kernels = await instantiateKernels(module, memory);
  let next = 0;

  /** Of calls over other bytes each. */
  function bestMsOf(length: number, call: (address: number) => void): number {
    let bestMs = Infinity;
    const endMs = performance.now() + measuredMs;
    for (let startMs = performance.now(); startMs < endMs; startMs = performance.now()) {
      if (next + length > WEIGHT_BYTES) next = 0;
      call(WEIGHTS + next);
      next += length;
      bestMs = Math.min(bestMs, performance.now() - startMs);
    }
    return bestMs;
  }

  return {
    variant,
    async multiply({ bits, extraBits, quantize, multiply }: Format, size: Size): Promise<Samples> {
      const numWeights = size.inputs * size.outputs;
      const length = 64 * Math.ceil((numWeights * (bits + extraBits)) / 8 / 64);
      quantize(kernels, size);
      const bestMs = bestMsOf(length, (weights) => multiply(kernels, size, weights));
      return { 'GMAC/s': (size.rows * numWeights) / bestMs / 1e6, 'GB/s of weights': length / bestMs / 1e6 };
    },
  };
}

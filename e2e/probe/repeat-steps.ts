import { sharedModel } from './shared-model.ts';

export interface RepeatedSteps {
  /** One line per step whose logits differ in any bit from those of its first time. */
  readonly differences: readonly string[];
  readonly numSteps: number;
  /** Steps in which onnxruntime-web described nothing to the GPU. */
  readonly numReplayed: number;
}

const NUM_ROWS = 3;
const NUM_TIMES = 6;
/** Around the lengths at which attention takes another workgroup. */
const POSITIONS = [0, 5, 62, 63, 64, 100];
/** Not a multiple of the keys per workgroup. A model's context may be that, too. */
const CAPACITY = 101;

/**
 * Repeats steps at ascending positions: each step runs first, is captured the second time and replayed from then on. It writes
 * the same keys and values every time, so its logits are the same.
 */
export async function repeatSteps(): Promise<RepeatedSteps> {
  const { backend, config } = await sharedModel('webgpu');
  const groups = countBindGroups();
  const differences: string[] = [];
  let numReplayed = 0;
  for (const position of POSITIONS) {
    // Drops all captures, and keeps the keys and values.
    for (const capacity of [CAPACITY + 1, CAPACITY]) {
      backend.resize({ numSlots: NUM_ROWS, numStagingRows: 1, capacity });
    }
    const lastIndices = Int32Array.from({ length: NUM_ROWS }, (_, row) => Math.max(0, position - row));
    let first: Float32Array | undefined;
    for (let time = 0; time < NUM_TIMES; time += 1) {
      const before = groups.count;
      await backend.forward({
        target: 'slots',
        numRows: NUM_ROWS,
        tokensPerRow: 1,
        ids: lastIndices.map((index, row) => (7 * index + row) % config.vocabSize),
        positions: lastIndices,
        lastIndices,
      });
      if (groups.count === before) numReplayed += 1;
      const logits = await backend.readLogits(NUM_ROWS);
      first ??= logits;
      const expected = first;
      if (!logits.every((value, i) => value === expected[i])) {
        differences.push(`position ${position}, time ${time}`);
      }
    }
  }
  groups.stop();
  return { differences, numSteps: NUM_TIMES * POSITIONS.length, numReplayed };
}

/** onnxruntime-web makes a bind group for each dispatch that it describes: about a dozen per layer. */
function countBindGroups(): { readonly count: number; stop(): void } {
  // oxlint-disable-next-line typescript/unbound-method -- called with its own object below
  const { createBindGroup } = GPUDevice.prototype;
  let count = 0;
  GPUDevice.prototype.createBindGroup = function counted(descriptor) {
    count += 1;
    return createBindGroup.call(this, descriptor);
  };
  return {
    get count() {
      return count;
    },
    stop: () => {
      GPUDevice.prototype.createBindGroup = createBindGroup;
    },
  };
}

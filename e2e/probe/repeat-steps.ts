import { sharedModel } from './shared-model.ts';
import type { ProbeBackend } from './probe-device.ts';

export interface RepeatedSteps {
  /** One line per step whose logits were not, bit by bit, those of the first time. */
  readonly differences: readonly string[];
  readonly numSteps: number;
  /** Steps in which onnxruntime-web described nothing to the GPU. */
  readonly numReplayed: number;
}

const NUM_ROWS = 3;
const NUM_TIMES = 5;
/** Around the lengths at which attention takes another workgroup. */
const POSITIONS = [0, 5, 62, 63, 64, 100];

/**
 * Runs the same steps again and again. A step writes the keys and values that it has written before, so its logits are the
 * same each time.
 */
export async function repeatSteps(choice: ProbeBackend): Promise<RepeatedSteps> {
  const { backend, config } = await sharedModel(choice);
  backend.resize({ numSlots: NUM_ROWS, numStagingRows: 1, capacity: 128 });
  const groups = countBindGroups();
  const differences: string[] = [];
  const first = new Map<number, Float32Array>();
  let numReplayed = 0;
  for (let time = 0; time < NUM_TIMES; time += 1) {
    for (const position of POSITIONS) {
      const lastIndices = Int32Array.from({ length: NUM_ROWS }, (_, row) => Math.max(0, position - row));
      const before = groups.count;
      await backend.forward({
        target: 'slots',
        numRows: NUM_ROWS,
        tokensPerRow: 1,
        ids: lastIndices.map((index, row) => (7 * index + row) % config.vocabSize),
        positions: lastIndices,
        lastIndices,
      });
      if (groups.count - before <= config.numLayers) numReplayed += 1;
      const logits = await backend.readLogits(NUM_ROWS);
      const expected = first.get(position) ?? logits;
      if (time > 0 && !logits.every((value, i) => value === expected[i])) {
        differences.push(`position ${position}, time ${time}`);
      }
      // The first time the rows still write what the later ones read.
      if (time === 1) first.set(position, logits);
    }
  }
  groups.stop();
  return { differences, numSteps: NUM_TIMES * POSITIONS.length, numReplayed };
}

/** A pass that is described makes a group for each of its dispatches, of which a layer has a dozen. */
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

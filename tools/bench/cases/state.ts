import { CpuBackend } from '../../../src/worker/cpu/cpu-backend.ts';
import { layOut, sectionsOf } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import { packedRowsOf, type TakeRows } from '../../../src/worker/models/checkpoint/weight-source.ts';
import { readModel } from '../../../src/worker/models/families/families.ts';
import type { ForwardTarget } from '../../../src/worker/runtime/model-backend.ts';
import type { BenchCase, Subject } from '../bench-case.ts';

/** The widths of Qwen3.5 0.8B. */
const SIZES = { hidden_size: 1024, intermediate_size: 3584, num_attention_heads: 8, num_key_value_heads: 2 };
const OTHERS = { linear_num_value_heads: 16, num_hidden_layers: 4, vocab_size: 4096 };
const CONTEXTS = [128, 512, 2048, 4096, 8192];
const CHUNK = 128;
const MEASURED_US = 200_000;

export const bench: BenchCase = {
  summary: 'three layers of linear attention and one of full, beside four of full, on the CPU, in Node',
  rounds: 3,
  async run(_, measure) {
    const [full, state] = [await backendOf('full_attention'), await backendOf('linear_attention')] as const;
    const subjects = [1, 8].flatMap((rows) =>
      CONTEXTS.flatMap((context): readonly Subject[] => {
        const subject = (name: string, backend: CpuBackend) => ({
          labels: [name, `${rows}`, `${context}`],
          measure: () => measureAt(backend, rows, context),
        });
        const base = { ...subject('four of full', full), base: 'none' } as const;
        return [base, { ...subject('three with state', state), base }];
      }),
    );
    const labels = ['layers', 'rows', 'context'];
    const columns = ['tokens/s', 'prompt tokens/s'].map(
      (name) => ({ name, digits: 1, shows: 'max' }) as const,
    );
    const ratio = { header: 'over full attention', column: 'tokens/s' };
    const caption = 'Four layers as wide as those of Qwen3.5 0.8B';
    const groups = [{ caption, labels, columns, ratio, subjects }];
    const note = `Weights of 8 bits. Steps, and chunks of ${CHUNK} prompt tokens, up to the context, by CPU time of one thread.`;
    await measure({ key: 'state', browser: `Node ${process.version}`, note, groups });
  },
};

/** Time doesn't hang on values: weights are 0, and so is all that rows have kept. */
async function backendOf(type: string): Promise<CpuBackend> {
  const config = { ...SIZES, ...OTHERS, model_type: 'qwen3_5_text', max_position_embeddings: 8192 };
  const model = readModel({ ...config, layer_types: [type, type, type, 'full_attention'] }, undefined);
  const packed = layOut(model.program.weights, 'q8', 'float32');
  const stream = async (take: TakeRows) => {
    for (const tensor of packed.tensors) {
      const parts = sectionsOf({ tensors: [tensor] }).map(({ length }) => new Uint8Array(length));
      take({ tensor, firstRow: 0, numRows: packedRowsOf(tensor), parts });
    }
  };
  return CpuBackend.create({ model, packed, weights: { stream, bytes: async () => new Uint8Array() } });
}

async function measureAt(backend: CpuBackend, numRows: number, context: number) {
  backend.resize({ numSlots: numRows, numStagingRows: 1, capacity: context, numSnapshots: 0 });
  const rateOf = async (target: ForwardTarget, rows: number, tokensPerRow: number): Promise<number> => {
    const ids = Int32Array.from({ length: rows * tokensPerRow }, (_, index) => index);
    const positions = ids.map((index) => context - tokensPerRow + (index % tokensPerRow));
    const lastIndices = new Int32Array(rows).fill(context - 1);
    const begun = process.threadCpuUsage();
    for (let numTokens = ids.length; ; numTokens += ids.length) {
      await backend.forward({ target, numRows: rows, tokensPerRow, ids, positions, lastIndices });
      const { user, system } = process.threadCpuUsage(begun);
      if (user + system > MEASURED_US) return (1e6 * numTokens) / (user + system);
    }
  };
  return {
    'tokens/s': await rateOf('slots', numRows, 1),
    ...(numRows === 1 && { 'prompt tokens/s': await rateOf('staging', 1, CHUNK) }),
  };
}

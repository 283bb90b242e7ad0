import { CpuBackend } from '../../../src/worker/cpu/cpu-backend.ts';
import { layOut, sectionsOf } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import { packedRowsOf, type TakeRows } from '../../../src/worker/models/checkpoint/weight-source.ts';
import { readModel } from '../../../src/worker/models/families/families.ts';
import type { BenchCase, Subject } from '../bench-case.ts';

/** The widths of Qwen3.5 0.8B. */
const SIZES = { hidden_size: 1024, intermediate_size: 3584, num_attention_heads: 8, num_key_value_heads: 2 };
const OTHERS = { linear_num_value_heads: 16, num_hidden_layers: 4, vocab_size: 4096 };
const CONTEXTS = [128, 4096];

export const bench: BenchCase = {
  summary: 'three layers of linear attention and one of full, beside four of full, on the CPU, in Node',
  rounds: 3,
  async run(_, measure) {
    const backends = [await backendOf('full_attention'), await backendOf('linear_attention')] as const;
    const subjects = [1, 8].flatMap((rows) =>
      CONTEXTS.flatMap((context): readonly Subject[] => {
        const [full, state] = backends;
        const subject = (name: string, backend: CpuBackend) => {
          return { labels: [name, `${rows}`, `${context}`], measure: () => decode(backend, rows, context) };
        };
        const base = { ...subject('four of full', full), base: 'none' } as const;
        return [base, { ...subject('three with state', state), base }];
      }),
    );
    const labels = ['layers', 'rows', 'context'];
    const columns = [{ name: 'tokens/s', digits: 1, shows: 'max' }] as const;
    const ratio = { header: 'over full attention', column: 'tokens/s' };
    const groups = [
      { caption: 'Four layers as wide as those of Qwen3.5 0.8B', labels, columns, ratio, subjects },
    ];
    const note = 'Weights of 8 bits. The best decode step of a round, in CPU time of its one thread.';
    await measure({ key: 'state', browser: `Node ${process.version}`, note, groups });
  },
};

/** Time doesn't hang on values: weights are 0, and so is all that rows have kept. */
async function backendOf(type: string): Promise<CpuBackend> {
  const config = { ...SIZES, ...OTHERS, model_type: 'qwen3_5_text', max_position_embeddings: 4096 };
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

async function decode(backend: CpuBackend, numRows: number, context: number) {
  backend.resize({ numSlots: numRows, numStagingRows: 1, capacity: context, numSnapshots: 0 });
  const positions = new Int32Array(numRows).fill(context - 1);
  const ids = positions.map((_, row) => row);
  const rates: number[] = [];
  while (rates.length < 4) {
    const { user, system } = process.threadCpuUsage();
    await backend.forward({
      target: 'slots',
      numRows,
      tokensPerRow: 1,
      ids,
      positions,
      lastIndices: positions,
    });
    const after = process.threadCpuUsage();
    rates.push((1e6 * numRows) / (after.user + after.system - user - system));
  }
  return { 'tokens/s': Math.max(...rates) };
}

import { CpuBackend } from '../../../src/worker/cpu/cpu-backend.ts';
import { checkpointWeights } from '../../../src/worker/models/checkpoint/convert-weights.ts';
import { layOut } from '../../../src/worker/models/checkpoint/packed-weights.ts';
import { readModel } from '../../../src/worker/models/families/families.ts';
import { seededTensors } from '../../../src/worker/runtime/gpu-check/seeded-tensors.ts';
import type { BenchCase, Group, Subject } from '../bench-case.ts';

const CONTEXTS = [128, 4096];
const SIZES = { vocab_size: 4096, max_position_embeddings: 4096, hidden_size: 1024, num_hidden_layers: 4 };
const QWEN = { model_type: 'qwen3_5_text', intermediate_size: 3584, linear_num_value_heads: 16 };
const LFM = { model_type: 'lfm2', intermediate_size: 6656, num_attention_heads: 16 };

/** The widths of a model, and three layers with state beside one that attends. */
const MODELS = {
  'Qwen3.5 0.8B': {
    ...SIZES,
    ...QWEN,
    num_attention_heads: 8,
    num_key_value_heads: 2,
    layer: 'linear_attention',
  },
  'LFM2 350M': { ...SIZES, ...LFM, layer: 'conv' },
};

export const bench: BenchCase = {
  summary: 'decode steps of layers that keep a state beside those of full attention, on the CPU, in Node',
  rounds: 5,
  async run({ isShort }, measure) {
    const groups: Group[] = [];
    for (const [name, { layer, ...config }] of Object.entries(MODELS)) {
      const full = await backendOf({ ...config, layer_types: Array(4).fill('full_attention') });
      const state = await backendOf({ ...config, layer_types: [layer, layer, layer, 'full_attention'] });
      const subjects = (isShort ? [1] : [1, 8]).flatMap((numRows) =>
        CONTEXTS.flatMap((context): readonly Subject[] => {
          const labels = [`${numRows}`, `${context}`];
          const measured = (backend: CpuBackend) => () => measureSteps(backend, numRows, context);
          const base = {
            labels: ['full attention', ...labels],
            base: 'none',
            measure: measured(full),
          } as const;
          return [base, { labels: ['state', ...labels], base, measure: measured(state) }];
        }),
      );
      const columns = [{ name: 'tokens/s', digits: 1, shows: 'max' }] as const;
      const ratio = { header: 'state over full attention', column: 'tokens/s' };
      groups.push({ caption: name, labels: ['layers', 'rows', 'context'], columns, ratio, subjects });
    }
    const note =
      'Four layers, 8-bit weights, one thread: three layers with state and one of full attention, or four of full attention. The best of three steps, after as many tokens as the context says.';
    await measure({ key: 'cpu', browser: `Node ${process.version}`, note, groups });
  },
};

async function backendOf(config: object): Promise<CpuBackend> {
  const model = readModel(config, undefined);
  const layout = layOut(model.program.weights, 'q8', 'float32');
  return CpuBackend.create({ model, ...checkpointWeights({ tensors: seededTensors(model, 1) }, { layout }) });
}

/** Time doesn't hang on the values, so nothing is read before: what the rows have kept is 0. */
async function measureSteps(backend: CpuBackend, numRows: number, context: number) {
  backend.resize({ numSlots: numRows, numStagingRows: 1, capacity: context, numSnapshots: 0 });
  const rates: number[] = [];
  for (let step = 0; step < 3; step++) {
    const last = new Int32Array(numRows).fill(context - 1);
    const input = {
      numRows,
      tokensPerRow: 1,
      ids: last.map((_, row) => row),
      positions: last,
      lastIndices: last,
    };
    const startMs = performance.now();
    await backend.forward({ target: 'slots', ...input });
    rates.push((1000 * numRows) / (performance.now() - startMs));
  }
  return { 'tokens/s': Math.max(...rates) };
}

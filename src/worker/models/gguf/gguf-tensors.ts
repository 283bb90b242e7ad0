import type { Fields } from '../config-fields.ts';
import type { TensorView } from '../formats/safetensors.ts';

/** Puts a tensor's values into the checkpoint's order, in place. */
type Restore = (values: Float32Array<ArrayBuffer>) => void;

const LAYER = /^blk\.(\d+)\.([a-z\d_.]+)\.(weight|bias)$/;

/** Names of a layer's modules; those of norms differ where outputs are normalized too. */
const LLAMA_MODULES: ReadonlyMap<string, string> = new Map([
  ['attn_norm', 'input_layernorm'],
  ['ffn_norm', 'post_attention_layernorm'],
  ['attn_q', 'self_attn.q_proj'],
  ['attn_k', 'self_attn.k_proj'],
  ['attn_v', 'self_attn.v_proj'],
  ['attn_output', 'self_attn.o_proj'],
  ['attn_q_norm', 'self_attn.q_norm'],
  ['attn_k_norm', 'self_attn.k_norm'],
  ['ffn_gate', 'mlp.gate_proj'],
  ['ffn_up', 'mlp.up_proj'],
  ['ffn_down', 'mlp.down_proj'],
]);

const OUTPUT_NORM_MODULES: ReadonlyMap<string, string> = new Map([
  ...LLAMA_MODULES,
  ['ffn_norm', 'pre_feedforward_layernorm'],
  ['post_attention_norm', 'post_attention_layernorm'],
  ['post_ffw_norm', 'post_feedforward_layernorm'],
]);

const LFM2_MODULES: ReadonlyMap<string, string> = new Map([
  ['attn_norm', 'operator_norm'],
  ['ffn_norm', 'ffn_norm'],
  ['attn_q', 'self_attn.q_proj'],
  ['attn_k', 'self_attn.k_proj'],
  ['attn_v', 'self_attn.v_proj'],
  ['attn_output', 'self_attn.out_proj'],
  ['attn_q_norm', 'self_attn.q_layernorm'],
  ['attn_k_norm', 'self_attn.k_layernorm'],
  ['shortconv.conv', 'conv.conv'],
  ['shortconv.in_proj', 'conv.in_proj'],
  ['shortconv.out_proj', 'conv.out_proj'],
  ['ffn_gate', 'feed_forward.w1'],
  ['ffn_up', 'feed_forward.w3'],
  ['ffn_down', 'feed_forward.w2'],
]);

/** One matrix gives the gate and what it multiplies. */
const PHI_MODULES: ReadonlyMap<string, string> = new Map([
  ...LLAMA_MODULES,
  ['attn_qkv', 'self_attn.qkv_proj'],
  ['ffn_up', 'mlp.gate_up_proj'],
]);

const QWEN35_MODULES: ReadonlyMap<string, string> = new Map([
  ...LLAMA_MODULES,
  ['post_attention_norm', 'post_attention_layernorm'],
  ['attn_qkv', 'linear_attn.in_proj_qkv'],
  ['attn_gate', 'linear_attn.in_proj_z'],
  ['ssm_alpha', 'linear_attn.in_proj_a'],
  ['ssm_beta', 'linear_attn.in_proj_b'],
  ['ssm_conv1d', 'linear_attn.conv1d'],
  ['ssm_norm', 'linear_attn.norm'],
  ['ssm_out', 'linear_attn.out_proj'],
]);

/** Vectors of linear attention, whose names end as no others do. */
const DELTA_VECTORS: ReadonlyMap<string, string> = new Map([
  ['ssm_a', 'linear_attn.A_log'],
  ['ssm_dt.bias', 'linear_attn.dt_bias'],
]);

const DELTA_VECTOR = /^blk\.(\d+)\.(ssm_a|ssm_dt\.bias)$/;

/** By `model_type`; the others have those of Llama. */
const MODULES: ReadonlyMap<unknown, ReadonlyMap<string, string>> = new Map<
  unknown,
  ReadonlyMap<string, string>
>([
  ['gemma3_text', OUTPUT_NORM_MODULES],
  ['olmo2', OUTPUT_NORM_MODULES],
  ['olmo3', OUTPUT_NORM_MODULES],
  ['lfm2', LFM2_MODULES],
  ['phi3', PHI_MODULES],
  ['qwen3_5_text', QWEN35_MODULES],
]);

const GPT2_MODULES: ReadonlyMap<string, string> = new Map([
  ['attn_norm', 'ln_1'],
  ['attn_qkv', 'attn.c_attn'],
  ['attn_output', 'attn.c_proj'],
  ['ffn_norm', 'ln_2'],
  ['ffn_up', 'mlp.c_fc'],
  ['ffn_down', 'mlp.c_proj'],
]);

const LLAMA_NAMES: ReadonlyMap<string, string> = new Map([
  ['token_embd.weight', 'embed_tokens.weight'],
  ['output_norm.weight', 'norm.weight'],
  ['output.weight', 'lm_head.weight'],
]);

const LFM2_NAMES: ReadonlyMap<string, string> = new Map([
  ...LLAMA_NAMES,
  ['token_embd_norm.weight', 'embedding_norm.weight'],
]);

const GPT2_NAMES: ReadonlyMap<string, string> = new Map([
  ['token_embd.weight', 'wte.weight'],
  ['position_embd.weight', 'wpe.weight'],
  ['output_norm.weight', 'ln_f.weight'],
  ['output_norm.bias', 'ln_f.bias'],
  ['output.weight', 'lm_head.weight'],
]);

/** The tensors under their names in a checkpoint of huggingface/transformers, with what llama.cpp did to them undone. */
export function checkpointTensors(
  tensors: ReadonlyMap<string, TensorView>,
  config: Fields,
): ReadonlyMap<string, TensorView> {
  const nameOf = config['model_type'] === 'gpt2' ? gpt2Name : llamaName(config['model_type']);
  return new Map(
    Array.from(tensors, ([name, view]) => [
      nameOf(name) ?? name,
      { ...view, ...changeOf(name, view, config) },
    ]),
  );
}

function gpt2Name(name: string): string | undefined {
  const [, layer, part = '', kind] = LAYER.exec(name) ?? [];
  if (layer === undefined) return GPT2_NAMES.get(name);
  const module = GPT2_MODULES.get(part);
  return module && `h.${layer}.${module}.${kind}`;
}

function llamaName(modelType: unknown): (name: string) => string | undefined {
  const modules = MODULES.get(modelType) ?? LLAMA_MODULES;
  const names = modelType === 'lfm2' ? LFM2_NAMES : LLAMA_NAMES;
  return (name) => {
    const [, deltaLayer, vector = ''] = DELTA_VECTOR.exec(name) ?? [];
    if (deltaLayer !== undefined) return `layers.${deltaLayer}.${DELTA_VECTORS.get(vector)}`;
    const [, layer, part = '', kind] = LAYER.exec(name) ?? [];
    if (layer === undefined) return names.get(name);
    const module = modules.get(part);
    return module && `layers.${layer}.${module}.${kind}`;
  };
}

/**
 * llama.cpp permutes queries and keys of Llama and its closest relatives, adds 1 to norms of Gemma and Qwen3.5, transposes GPT-2's
 * matrices, and squeezes LFM2's kernels.
 */
function changeOf(
  name: string,
  { shape }: TensorView,
  config: Fields,
): { readonly shape?: readonly number[]; readonly restore?: Restore } {
  const [rows = 1, columns = 1] = shape;
  switch (config['model_type']) {
    case 'llama':
    case 'smollm3':
    case 'granite':
    case 'ministral3': {
      const part = LAYER.exec(name)?.[2];
      const numHeads = Number(config[part === 'attn_q' ? 'num_attention_heads' : 'num_key_value_heads']);
      const isPermuted = part === 'attn_q' || part === 'attn_k';
      return isPermuted
        ? { restore: (values) => unpermute(values, rows / numHeads, shape.length === 1 ? 1 : columns) }
        : {};
    }
    case 'qwen3_5_text':
      if (name.endsWith('.ssm_a')) return { restore: toLogarithms };
      if (name.endsWith('.ssm_conv1d.weight')) return { shape: [rows, 1, columns] };
      return name.endsWith('norm.weight') && !name.endsWith('.ssm_norm.weight')
        ? { restore: subtractOne }
        : {};
    case 'gemma3_text':
      return name.endsWith('norm.weight') ? { restore: subtractOne } : {};
    case 'gpt2':
      return LAYER.test(name) && shape.length === 2
        ? { shape: [columns, rows], restore: (values) => values.set(transposed(values, rows, columns)) }
        : {};
    case 'lfm2':
      return name.endsWith('shortconv.conv.weight') ? { shape: [rows, 1, columns] } : {};
    default:
      return {};
  }
}

/** Pairs of a head that turn together stand side by side in GGUF, and half a head apart in a checkpoint. */
function unpermute(values: Float32Array<ArrayBuffer>, headSize: number, rowLength: number): void {
  const paired = values.slice();
  const half = headSize / 2;
  for (let row = 0; row < values.length / rowLength; row++) {
    const [head, within] = [Math.floor(row / headSize), row % headSize];
    const from = head * headSize + 2 * (within % half) + Math.floor(within / half);
    values.set(paired.subarray(from * rowLength, (from + 1) * rowLength), row * rowLength);
  }
}

/** A file has the negative rates themselves. */
function toLogarithms(values: Float32Array): void {
  for (let i = 0; i < values.length; i++) values[i] = Math.log(-(values[i] ?? 0));
}

function subtractOne(values: Float32Array): void {
  for (let i = 0; i < values.length; i++) values[i] = (values[i] ?? 0) - 1;
}

function transposed(values: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      result[column * rows + row] = values[row * columns + column] ?? 0;
    }
  }
  return result;
}

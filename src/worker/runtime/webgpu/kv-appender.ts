import type { ModelConfig } from '../../models/model-config.ts';
import { BUFFER_USAGE } from './gpu-flags.ts';

/** A pass whose keys and values are appended to the cache. */
export interface AddedKv {
  readonly numRows: number;
  readonly tokensPerRow: number;
  /** Tokens that a row of the cache has room for. */
  readonly capacity: number;
  /** int32 [rows, tokens per row] */
  readonly positions: GPUBuffer;
  /** int32 [rows]: the last position of each row that is not padding. */
  readonly lastIndices: GPUBuffer;
  /** float32 [rows, tokens per row, (heads + 2 * K/V heads) * head size] of each layer: queries, keys and values. */
  readonly added: readonly GPUBuffer[];
  /** float32 [rows, K/V heads, capacity, head size]: K and V of each layer in turn. */
  readonly cache: readonly GPUBuffer[];
}

const WORKGROUP_SIZE = 64;
/** Size of the shader's `Shape`, rounded up to 16 bytes. */
const SHAPE_BYTES = 16;

/** Copies a pass's new keys and values into the K/V cache. Needed for plain attention, which only reads the cache. */
export class KvAppender {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #width: number;
  readonly #shape: GPUBuffer;
  /** One bind group per layer, over the buffers in `#bound`. */
  #groups: readonly GPUBindGroup[] = [];
  #bound: readonly GPUBuffer[] = [];

  static async create(device: GPUDevice, config: ModelConfig): Promise<KvAppender> {
    const module = device.createShaderModule({ code: shaderOf(config) });
    const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
    return new KvAppender(device, pipeline, config);
  }

  private constructor(device: GPUDevice, pipeline: GPUComputePipeline, config: ModelConfig) {
    this.#device = device;
    this.#pipeline = pipeline;
    this.#width = config.numKvHeads * config.headSize;
    this.#shape = device.createBuffer({
      size: SHAPE_BYTES,
      usage: BUFFER_USAGE.UNIFORM | BUFFER_USAGE.COPY_DST,
    });
  }

  /** Encodes the copies. Submit the encoder before the next call: all calls share one uniform buffer. */
  append(encoder: GPUCommandEncoder, kv: AddedKv): void {
    const numTokens = kv.numRows * kv.tokensPerRow;
    this.#device.queue.writeBuffer(
      this.#shape,
      0,
      Uint32Array.of(numTokens, kv.tokensPerRow, kv.capacity, 0),
    );
    const pass = encoder.beginComputePass();
    pass.setPipeline(this.#pipeline);
    for (const group of this.#bind(kv)) {
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(Math.ceil(this.#width / WORKGROUP_SIZE), numTokens);
    }
    pass.end();
  }

  destroy(): void {
    this.#shape.destroy();
  }

  #bind({ positions, lastIndices, added, cache }: AddedKv): readonly GPUBindGroup[] {
    const buffers = [positions, lastIndices, ...added, ...cache];
    if (buffers.every((buffer, i) => buffer === this.#bound[i])) return this.#groups;
    this.#bound = buffers;
    const layout = this.#pipeline.getBindGroupLayout(0);
    this.#groups = added.map((layerAdded, layer) => {
      const keysAndValues = cache.slice(2 * layer, 2 * layer + 2);
      const bindings = [this.#shape, positions, lastIndices, layerAdded, ...keysAndValues];
      const entries = bindings.map((buffer, binding) => ({ binding, resource: { buffer } }));
      return this.#device.createBindGroup({ layout, entries });
    });
    return this.#groups;
  }
}

function shaderOf({ numHeads, numKvHeads, headSize }: ModelConfig): string {
  return /* wgsl */ `
struct Shape {
  num_tokens: u32,
  tokens_per_row: u32,
  capacity: u32,
}

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> positions: array<i32>;
@group(0) @binding(2) var<storage, read> last_indices: array<i32>;
@group(0) @binding(3) var<storage, read> added: array<f32>;
@group(0) @binding(4) var<storage, read_write> keys: array<f32>;
@group(0) @binding(5) var<storage, read_write> values: array<f32>;

const HEAD_SIZE = ${headSize}u;
const NUM_HEADS = ${numKvHeads}u;
const WIDTH = HEAD_SIZE * NUM_HEADS;
const QUERY_WIDTH = HEAD_SIZE * ${numHeads}u;

@compute @workgroup_size(${WORKGROUP_SIZE})
fn append(@builtin(global_invocation_id) id: vec3<u32>) {
  let element = id.x;
  let token = id.y;
  if (element >= WIDTH || token >= shape.num_tokens) {
    return;
  }
  let row = token / shape.tokens_per_row;
  let position = positions[token];
  if (position > last_indices[row]) {
    return;
  }
  let head = row * NUM_HEADS + element / HEAD_SIZE;
  let place = (head * shape.capacity + u32(position)) * HEAD_SIZE + element % HEAD_SIZE;
  let source = token * (QUERY_WIDTH + 2u * WIDTH) + QUERY_WIDTH + element;
  keys[place] = added[source];
  values[place] = added[source + WIDTH];
}
`;
}

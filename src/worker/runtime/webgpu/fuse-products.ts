import { BUFFER_USAGE } from '../gpu-sampler/gpu-flags.ts';
import { keyOf, type Port } from './data-flow.ts';
import { FusionPlan, type FusedProduct } from './fusion-plan.ts';
import { nameDispatch, type NamedDispatch, type RecordedDispatch } from './named-dispatch.ts';
import { OUTPUTS_PER_WORKGROUP, productShader, type ProductShape } from './product-shader.ts';

export interface FusedPass {
  readonly dispatches: readonly RecordedDispatch[];
  /** Made for the outputs of fused products. */
  readonly buffers: readonly GPUBuffer[];
}

/**
 * Fuses products of few rows with the norm before them, and with the activation, the gate or the residual sum behind them:
 * onnxruntime-web has no operator for these. Other dispatches stay as they are.
 */
export async function fuseProducts(
  device: GPUDevice,
  recorded: readonly RecordedDispatch[],
): Promise<FusedPass> {
  const all = recorded.map(nameDispatch).filter((dispatch) => dispatch !== undefined);
  const plan = new FusionPlan(all.length === recorded.length ? all : []);
  const numRows = 2 ** Math.ceil(Math.log2(Math.max(1, plan.numRows)));
  const products = plan.fused.map((fused) => ({ fused, ...productShader(shapeOf(fused, numRows)) }));
  const { maxStorageBuffersPerShaderStage } = device.limits;
  const isTooMuch = products.some(({ names }) => names.length > maxStorageBuffersPerShaderStage);
  if (products.length === 0 || isTooMuch) return { dispatches: recorded, buffers: [] };
  const outputs = new Outputs(device, all, plan, numRows);
  const dispatches = await Promise.all(
    products.map(async ({ fused, code, names }) => {
      const pipeline = await pipelineOf(device, code);
      return [fused.at, dispatchOf(fused, pipeline, names, outputs)] as const;
    }),
  );
  const byPlace = new Map(dispatches);
  return {
    dispatches: all.flatMap((dispatch, at) => {
      const product = byPlace.get(at);
      if (product) return product;
      return plan.replaces(at) ? [] : outputs.rebind(dispatch, at);
    }),
    buffers: outputs.buffers,
  };
}

/** Where fused products put what they compute. */
class Outputs {
  readonly #all: readonly NamedDispatch[];
  readonly #plan: FusionPlan;
  /** By the keys of the outputs. */
  readonly #places = new Map<string, GPUBuffer>();

  /** A buffer serves another output once nothing reads the one before. */
  constructor(device: GPUDevice, all: readonly NamedDispatch[], plan: FusionPlan, numRows: number) {
    this.#all = all;
    this.#plan = plan;
    const lastReads = this.#lastReads();
    const widths = plan.fused.map(
      ({ product: { numOutputs, type } }) => numOutputs * (type === 'f16' ? 2 : 4),
    );
    const size = numRows * Math.max(...widths);
    const usedUntil = new Map<GPUBuffer, number>();
    for (const { at, output } of plan.fused) {
      const [free] = [...usedUntil].find(([, until]) => until < at) ?? [];
      const buffer = free ?? device.createBuffer({ size, usage: BUFFER_USAGE.STORAGE });
      this.#places.set(keyOf(output), buffer);
      usedUntil.set(buffer, lastReads.get(keyOf(output)) ?? at);
    }
  }

  get buffers(): readonly GPUBuffer[] {
    return [...new Set(this.#places.values())];
  }

  placeOf(output: Port | undefined): GPUBuffer | undefined {
    return output && this.#places.get(keyOf(output));
  }

  /** What an input of a dispatch reads. */
  bufferRead(input: Port): GPUBuffer | undefined {
    return (
      this.placeOf(this.#plan.flow.sourceOf(input)) ?? this.#all[input.at]?.reads.get(input.name)?.buffer
    );
  }

  /** A dispatch of onnxruntime-web's that reads what fused products have computed. */
  rebind({ recorded, reads }: NamedDispatch, at: number): RecordedDispatch {
    const entries = new Map([...recorded.group.entries].map((entry) => [entry.binding, entry]));
    for (const [name, { binding }] of reads) {
      const buffer = this.placeOf(this.#plan.flow.sourceOf({ at, name }));
      if (buffer) entries.set(binding, { binding, resource: { buffer } });
    }
    return { ...recorded, group: { ...recorded.group, entries: [...entries.values()] } };
  }

  /** The last dispatch that reads each output. */
  #lastReads(): ReadonlyMap<string, number> {
    const lastReads = new Map<string, number>();
    const { fused, flow } = this.#plan;
    const note = (at: number, ...outputs: readonly (Port | undefined)[]): void => {
      for (const output of outputs)
        if (output) lastReads.set(keyOf(output), Math.max(at, lastReads.get(keyOf(output)) ?? 0));
    };
    for (const { at, input, residual } of fused) note(at, input, residual && flow.sourceOf(residual));
    for (const [at, { reads }] of this.#all.entries())
      if (!this.#plan.replaces(at)) for (const name of reads.keys()) note(at, flow.sourceOf({ at, name }));
    return lastReads;
  }
}

function shapeOf(fused: FusedProduct, numRows: number): ProductShape {
  const { product, norm, bias, activation, second, residual } = fused;
  const { layout, numInputs, numOutputs, type } = product;
  return {
    layout,
    numInputs,
    numOutputs,
    numRows,
    type,
    norm: norm && {
      method: norm.reads.has('beta') ? 'layer' : 'rms',
      epsilon: norm.uniforms.get('epsilon') ?? 0,
    },
    activation,
    hasBias: bias !== undefined,
    isGate: second !== undefined,
    hasResidual: residual !== undefined,
  };
}

function dispatchOf(
  fused: FusedProduct,
  pipeline: GPUComputePipeline,
  names: readonly string[],
  outputs: Outputs,
): RecordedDispatch {
  const { product, norm, second, bias, residual, input, output } = fused;
  const buffers = new Map<string, GPUBuffer | undefined>([
    ['input', outputs.placeOf(input) ?? outputs.bufferRead({ at: product.at, name: product.input })],
    ['gain', norm?.reads.get('gamma')?.buffer],
    ['shift', norm?.reads.get('beta')?.buffer],
    ...namedWeights('matrix', product.weights),
    ...namedWeights('second', second?.weights),
    ['bias', bias],
    ['residual', residual && outputs.bufferRead(residual)],
    ['output', outputs.placeOf(output)],
  ]);
  const entries = names.flatMap((name, binding) => {
    const buffer = buffers.get(name);
    return buffer ? [{ binding, resource: { buffer } }] : [];
  });
  const numGroups = Math.ceil(product.numOutputs / OUTPUTS_PER_WORKGROUP);
  return {
    pipeline,
    group: { layout: pipeline.getBindGroupLayout(0), entries },
    launch: (pass) => pass.dispatchWorkgroups(numGroups),
    uniforms: [],
  };
}

function namedWeights(name: string, buffers: readonly GPUBuffer[] = []) {
  return buffers.map((buffer, i) => [`${name}${['', '_scales', '_zeros'][i]}`, buffer] as const);
}

const pipelines = new WeakMap<GPUDevice, Map<string, Promise<GPUComputePipeline>>>();

/** Layers and models of a device share them. */
function pipelineOf(device: GPUDevice, code: string): Promise<GPUComputePipeline> {
  const known = pipelines.get(device) ?? new Map<string, Promise<GPUComputePipeline>>();
  pipelines.set(device, known);
  const module = () => device.createShaderModule({ label: 'Product', code });
  const pipeline =
    known.get(code) ?? device.createComputePipelineAsync({ layout: 'auto', compute: { module: module() } });
  known.set(code, pipeline);
  return pipeline;
}

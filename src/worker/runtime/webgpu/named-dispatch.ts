import type { Launch } from './captured-pass.ts';
import { sourceOf } from './shader-sources.ts';

/** Parameters that onnxruntime-web writes for one shader, and their binding. */
export interface Uniform {
  readonly binding: number;
  readonly content: Uint8Array<ArrayBuffer>;
}

export interface RecordedDispatch {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroupDescriptor;
  readonly launch: Launch;
  readonly uniforms: readonly Uniform[];
}

/** A buffer, and its binding. */
export interface Bound {
  readonly binding: number;
  readonly buffer: GPUBuffer;
}

/** A dispatch of onnxruntime-web's by the names in its shader. */
export interface NamedDispatch {
  readonly recorded: RecordedDispatch;
  readonly program: string;
  readonly code: string;
  readonly reads: ReadonlyMap<string, Bound>;
  readonly writes: ReadonlyMap<string, Bound>;
  /** Those that are single numbers. */
  readonly uniforms: ReadonlyMap<string, number>;
}

const STORAGE = /@binding\((\d+)\) var<storage, (read|read_write)> (\w+)/g;
const UNIFORMS = /struct Uniforms \{([^}]*)\}/;
const FIELD = /(\w+): (?:vec([234])<)?(u32|i32|f32|f16)/g;

/** Undefined if the shader is unknown, or bound to a part of a buffer. */
export function nameDispatch(recorded: RecordedDispatch): NamedDispatch | undefined {
  const source = sourceOf(recorded.pipeline);
  if (!source) return undefined;
  const { name: program, code } = source;
  const resources = new Map([...recorded.group.entries].map(({ binding, resource }) => [binding, resource]));
  const [reads, writes] = [new Map<string, Bound>(), new Map<string, Bound>()];
  for (const [, binding, access, name = ''] of code.matchAll(STORAGE)) {
    const resource = resources.get(Number(binding));
    if (!resource || !('buffer' in resource) || resource.offset) return undefined;
    (access === 'read' ? reads : writes).set(name, { binding: Number(binding), buffer: resource.buffer });
  }
  return { recorded, program, code, reads, writes, uniforms: readUniforms(code, recorded.uniforms) };
}

/** Fields lie as WGSL aligns them. */
function readUniforms(code: string, [uniform]: readonly Uniform[]): ReadonlyMap<string, number> {
  const values = new Map<string, number>();
  if (!uniform) return values;
  const { buffer, byteOffset, byteLength } = uniform.content;
  const view = new DataView(buffer, byteOffset, byteLength);
  let offset = 0;
  for (const [, name = '', width, type] of (UNIFORMS.exec(code)?.[1] ?? '').matchAll(FIELD)) {
    const [size, count] = [type === 'f16' ? 2 : 4, Number(width ?? 1)];
    const alignment = size * (count === 3 ? 4 : count);
    offset = alignment * Math.ceil(offset / alignment);
    if (count === 1 && size === 4)
      values.set(name, type === 'f32' ? view.getFloat32(offset, true) : view.getUint32(offset, true));
    offset += size * count;
  }
  return values;
}

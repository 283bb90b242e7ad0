import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Data types with the numbers of `TensorProto.DataType`. */
export const ONNX_TYPE = { float32: 1, uint8: 2, int8: 3, int32: 6, int64: 7, bool: 9, float16: 10 } as const;

export type OnnxType = keyof typeof ONNX_TYPE;

export interface OnnxNode {
  readonly opType: string;
  /** '' is the standard domain. */
  readonly domain: '' | 'com.microsoft';
  /** '' leaves out an optional input or output. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
}

export type OnnxAttribute =
  | { readonly int: number }
  | { readonly float: number }
  | { readonly ints: readonly number[] };

export interface OnnxValue {
  readonly name: string;
  readonly type: OnnxType;
  /** A string names a dimension that is known only at run time. */
  readonly dims: readonly (number | string)[];
}

/** A named tensor. Its bytes are in the model itself, or in an external file at an offset. */
export interface OnnxInitializer {
  readonly name: string;
  readonly type: OnnxType;
  readonly dims: readonly number[];
  readonly data: Uint8Array | { readonly location: string; readonly offset: number; readonly length: number };
}

export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
  readonly initializers: readonly OnnxInitializer[];
}

const IR_VERSION = 10;
const OPSETS = [
  { domain: '', version: 21 },
  { domain: 'com.microsoft', version: 1 },
] as const;
const ATTRIBUTE_FLOAT = 1;
const ATTRIBUTE_INT = 2;
const ATTRIBUTE_INTS = 7;
const DATA_LOCATION_EXTERNAL = 1;

/** Encodes a graph as an ONNX `ModelProto`. Field numbers are those of onnx.proto (onnx/onnx, IR version 10). */
export function encodeOnnxModel(graph: OnnxGraph): Uint8Array<ArrayBuffer> {
  const model = new BinaryWriter();
  int(model, 1, IR_VERSION);
  text(model, 2, 'tabserve');
  message(model, 7, (out) => writeGraph(out, graph));
  for (const { domain, version } of OPSETS) {
    message(model, 8, (out) => {
      text(out, 1, domain);
      int(out, 2, version);
    });
  }
  return model.finish();
}

function writeGraph(out: BinaryWriter, graph: OnnxGraph): void {
  for (const node of graph.nodes) message(out, 1, (child) => writeNode(child, node));
  text(out, 2, graph.name);
  for (const initializer of graph.initializers)
    message(out, 5, (child) => writeInitializer(child, initializer));
  for (const value of graph.inputs) message(out, 11, (child) => writeValue(child, value));
  for (const value of graph.outputs) message(out, 12, (child) => writeValue(child, value));
}

function writeNode(out: BinaryWriter, node: OnnxNode): void {
  for (const input of node.inputs) text(out, 1, input);
  for (const output of node.outputs) text(out, 2, output);
  text(out, 3, node.outputs[0] ?? '');
  text(out, 4, node.opType);
  for (const [name, value] of Object.entries(node.attributes ?? {})) {
    message(out, 5, (child) => writeAttribute(child, name, value));
  }
  text(out, 7, node.domain);
}

function writeAttribute(out: BinaryWriter, name: string, value: OnnxAttribute): void {
  text(out, 1, name);
  if ('int' in value) {
    int(out, 3, value.int);
    int(out, 20, ATTRIBUTE_INT);
  } else if ('float' in value) {
    out.tag(2, WireType.Bit32).float(value.float);
    int(out, 20, ATTRIBUTE_FLOAT);
  } else {
    for (const element of value.ints) int(out, 8, element);
    int(out, 20, ATTRIBUTE_INTS);
  }
}

function writeInitializer(out: BinaryWriter, { name, type, dims, data }: OnnxInitializer): void {
  for (const dim of dims) int(out, 1, dim);
  int(out, 2, ONNX_TYPE[type]);
  text(out, 8, name);
  if (data instanceof Uint8Array) {
    out.tag(9, WireType.LengthDelimited).bytes(data);
    return;
  }
  for (const [key, value] of Object.entries(data)) {
    message(out, 13, (entry) => {
      text(entry, 1, key);
      text(entry, 2, String(value));
    });
  }
  int(out, 14, DATA_LOCATION_EXTERNAL);
}

function writeValue(out: BinaryWriter, { name, type, dims }: OnnxValue): void {
  text(out, 1, name);
  message(out, 2, (typeProto) => {
    message(typeProto, 1, (tensorType) => {
      int(tensorType, 1, ONNX_TYPE[type]);
      message(tensorType, 2, (shape) => {
        for (const dim of dims) {
          message(shape, 1, (out_) => (typeof dim === 'number' ? int(out_, 1, dim) : text(out_, 2, dim)));
        }
      });
    });
  });
}

function int(out: BinaryWriter, field: number, value: number): void {
  out.tag(field, WireType.Varint).int64(value);
}

function text(out: BinaryWriter, field: number, value: string): void {
  out.tag(field, WireType.LengthDelimited).string(value);
}

function message(out: BinaryWriter, field: number, write: (child: BinaryWriter) => void): void {
  out.tag(field, WireType.LengthDelimited).fork();
  write(out);
  out.join();
}

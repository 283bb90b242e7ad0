"""Runs an exported dense network from its file's bytes in float64 numpy: the reference shares no code with torch.

Debian has no onnx package; of its protobuf schema only what such a file contains is read.
"""

import numpy as np

# Field numbers of onnx.proto
MODEL_GRAPH = 7
GRAPH_NODE, GRAPH_INITIALIZER, GRAPH_INPUT, GRAPH_OUTPUT = 1, 5, 11, 12
NODE_INPUT, NODE_OUTPUT, NODE_OPERATION, NODE_ATTRIBUTE = 1, 2, 4, 5
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT, ATTRIBUTE_INTEGER = 1, 2, 3
TENSOR_DIMENSION, TENSOR_NAME, TENSOR_RAW_DATA = 1, 8, 9
VALUE_NAME = 1

Fields = dict[int, list]


def varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data: bytes) -> Fields:
    """One protobuf message: field number to its values (integers, or bytes for everything else)."""
    found: Fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        wire_type = key & 7
        if wire_type == 0:
            value, at = varint(data, at)
        elif wire_type in (2, 5):
            size, at = varint(data, at) if wire_type == 2 else (4, at)
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"Expected protobuf wire type 0, 2 or 5, got {wire_type}")
        found.setdefault(key >> 3, []).append(value)
    return found


def text(values: list) -> list[str]:
    return [value.decode("utf-8") for value in values]


def tensor(message: Fields) -> np.ndarray:
    values = np.frombuffer(message[TENSOR_RAW_DATA][0], dtype="<f4").astype(np.float64)
    return values.reshape(message[TENSOR_DIMENSION])


def gemm(attributes: dict[str, float], a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    if attributes.get("alpha", 1) != 1 or attributes.get("beta", 1) != 1 or attributes.get("transA", 0) != 0:
        raise ValueError(f"Expected a plain Gemm, got {attributes}")
    return a @ (b.T if attributes.get("transB", 0) else b) + c


OPERATIONS = {
    "Gemm": gemm,
    "Relu": lambda attributes, x: np.maximum(x, 0),
    "Exp": lambda attributes, x: np.exp(x),
}


def attribute(message: Fields) -> tuple[str, float]:
    name = text(message[ATTRIBUTE_NAME])[0]
    if ATTRIBUTE_FLOAT in message:
        return name, float(np.frombuffer(message[ATTRIBUTE_FLOAT][0], dtype="<f4")[0])
    return name, message[ATTRIBUTE_INTEGER][0]


def run(model: bytes, features: np.ndarray) -> np.ndarray:
    """The graph's output for its one input; features are rounded to float32 first, as a caller's tensor is."""
    graph = fields(fields(model)[MODEL_GRAPH][0])
    values = {text(t[TENSOR_NAME])[0]: tensor(t) for t in map(fields, graph[GRAPH_INITIALIZER])}
    values[text(fields(graph[GRAPH_INPUT][0])[VALUE_NAME])[0]] = np.float32(features).astype(np.float64)
    for node in map(fields, graph[GRAPH_NODE]):
        attributes = dict(attribute(fields(a)) for a in node.get(NODE_ATTRIBUTE, []))
        operation = OPERATIONS[text(node[NODE_OPERATION])[0]]
        (output,) = text(node[NODE_OUTPUT])
        values[output] = operation(attributes, *(values[name] for name in text(node[NODE_INPUT])))
    return values[text(fields(graph[GRAPH_OUTPUT][0])[VALUE_NAME])[0]]

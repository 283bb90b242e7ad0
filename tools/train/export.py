"""What the three models share at the end of their training: ONNX files of dense networks, model cards, and the published folders."""

import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "tools" / "reference" / "fixtures"
OPSET = 17
# onnxruntime reads this one and later ones.
IR_VERSION = 8

Layer = tuple[np.ndarray, np.ndarray]  # weights [inputs, outputs] and biases


def dense_onnx(name: str, input_name: str, output_name: str, layers: list[Layer], last: str) -> onnx.ModelProto:
    """Layers with Relu between them, then the operator `last`: [n, inputs] to [n, outputs] for any n, in the layers' own precision."""
    nodes, initializers, current = [], [], input_name
    for index, (weights, biases) in enumerate(layers):
        initializers += [numpy_helper.from_array(weights, f"weights.{index}"), numpy_helper.from_array(biases, f"biases.{index}")]
        nodes.append(helper.make_node("Gemm", [current, f"weights.{index}", f"biases.{index}"], [f"sums.{index}"]))
        is_last = index == len(layers) - 1
        current = output_name if is_last else f"activations.{index}"
        nodes.append(helper.make_node(last if is_last else "Relu", [f"sums.{index}"], [current]))
    kind = helper.np_dtype_to_tensor_dtype(layers[0][0].dtype)
    inputs = helper.make_tensor_value_info(input_name, kind, ["n", layers[0][0].shape[0]])
    outputs = helper.make_tensor_value_info(output_name, kind, ["n", layers[-1][0].shape[1]])
    graph = helper.make_graph(nodes, name, [inputs], [outputs], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION, producer_name="tabserve")
    onnx.checker.check_model(model, full_check=True)
    return model


def read_layers(model: onnx.ModelProto) -> list[Layer]:
    """The layers of a dense network's file, whatever wrote it."""
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    layers = []
    for node in model.graph.node:
        if node.op_type == "Gemm":
            is_transposed = any(attribute.name == "transB" and attribute.i for attribute in node.attribute)
            weights, biases = tensors[node.input[1]], tensors[node.input[2]]
            layers.append((weights.T if is_transposed else weights, biases))
    return layers


def as_json(value: object) -> bytes:
    return (json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def publish(files: dict[Path, bytes]) -> None:
    """Callers make all contents first, so that an error replaces none."""
    for path, content in files.items():
        path.write_bytes(content)

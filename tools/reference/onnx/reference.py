"""Trains the models of examples/onnx-models, and asks onnxruntime what they answer. See README.md."""

from __future__ import annotations

import json

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from support import COMPACT, ROOT, read_json, write

EXAMPLE = ROOT / "examples" / "onnx-models"
OPSET = 17
IR_VERSION = 8
NUM_CASES = 24
HIDDEN = 16
FILTERS = 8


def flowers() -> dict:
    features, species = load_iris(return_X_y=True)
    features = features.astype(np.float32)
    classifier = LogisticRegression(max_iter=1000).fit(features, species)
    print("flowers:", classifier.score(features, species))
    model = to_onnx(classifier, features[:1], options={"zipmap": False}, target_opset=OPSET)
    model.graph.input[0].name, old = "features", model.graph.input[0].name
    for node in model.graph.node:
        node.input[:] = ["features" if name == old else name for name in node.input]
    session = save("flowers", model)
    cases = features[:: len(features) // NUM_CASES][:NUM_CASES]
    label, probabilities = session.run(["label", "probabilities"], {"features": cases})
    return {"inputs": rows(cases), "labels": label.tolist(), "probabilities": rows(probabilities)}


def topics() -> dict:
    made = read_json("onnx/topics.json")
    names, filler = list(made["topics"]), made["filler"].split()
    words = {name: text.split() for name, text in made["topics"].items()}
    # Id 0 pads, id 1 is any other word.
    vocabulary = ["", "?", *filler, *(word for name in names for word in words[name])]
    ids = {word: index for index, word in enumerate(vocabulary)}
    rng = np.random.default_rng(49)

    def sentence(name: str) -> list[int]:
        own, other = rng.choice(words[name], rng.integers(2, 5)), rng.choice(filler, rng.integers(2, 8))
        text = [ids[word] for word in rng.permutation([*own, *other])]
        return text + [1] * int(rng.integers(0, 2))

    labels = rng.integers(0, len(names), 2000)
    counts = np.stack([np.bincount(text, minlength=len(vocabulary)) / len(text) for text in map(sentence, [names[label] for label in labels])])
    network = MLPClassifier([HIDDEN], max_iter=300, random_state=1).fit(counts, labels)
    print("topics:", network.score(counts, labels))
    (embeddings, scores), (bias, offsets) = network.coefs_, network.intercepts_
    weights = {"embeddings": embeddings, "bias": bias, "scores": scores, "offsets": offsets, "last": [2], "second": [1]}
    nodes = [
        ("Gather", ["embeddings", "input_ids"], "vectors"),
        ("Cast", ["attention_mask"], "mask", {"to": TensorProto.FLOAT}),
        ("Unsqueeze", ["mask", "last"], "column"),
        ("Mul", ["vectors", "column"], "masked"),
        ("ReduceSum", ["masked", "second"], "sum", {"keepdims": 0}),
        ("ReduceSum", ["mask", "second"], "length", {"keepdims": 1}),
        ("Div", ["sum", "length"], "mean"),
        ("Add", ["mean", "bias"], "biased"),
        ("Relu", ["biased"], "hidden"),
        ("Gemm", ["hidden", "scores", "offsets"], "logits"),
    ]
    inputs = {name: (TensorProto.INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask")}
    session = save("topics", graph("topics", nodes, inputs, ("logits", ["batch", len(names)]), weights))
    texts = [sentence(names[index % len(names)]) for index in range(NUM_CASES)]
    logits = [run(session, [text], [[1] * len(text)]) for text in texts]
    known = {"names": names, "words": vocabulary[2:]}
    (EXAMPLE / "model" / "topics.json").write_text(json.dumps(known, indent=1) + "\n")
    return {"inputs": [" ".join(vocabulary[index] for index in text) for text in texts], "logits": logits}


def run(session: onnxruntime.InferenceSession, *values: object) -> list[float]:
    names = [value.name for value in session.get_inputs()]
    return rows(session.run(None, {name: np.array(value) for name, value in zip(names, values)})[0])[0]


def digits() -> dict:
    pictures, labels = load_digits(return_X_y=True)
    # Gray values of bytes, as a canvas has them.
    pictures = np.round(pictures * 255 / 16).astype(np.float32).reshape(-1, 1, 8, 8)
    rng = np.random.default_rng(49)
    filters = {"filters": rng.normal(size=(FILTERS, 1, 3, 3)) / 765, "flat": [0, FILTERS * 16]}
    convolve = [
        ("Conv", ["pixels", "filters"], "edges", {"pads": [1, 1, 1, 1]}),
        ("Relu", ["edges"], "lines"),
        ("MaxPool", ["lines"], "parts", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Reshape", ["parts", "flat"], "features"),
    ]
    inputs = {"pixels": (TensorProto.FLOAT, ["batch", 1, 8, 8])}
    features = evaluate(graph("parts", convolve, inputs, ("features", ["batch", FILTERS * 16]), filters), pictures)
    network = MLPClassifier([HIDDEN * 2], max_iter=300, random_state=1).fit(features[NUM_CASES:], labels[NUM_CASES:])
    print("digits:", network.score(features[:NUM_CASES], labels[:NUM_CASES]))
    (first, second), (bias, offsets) = network.coefs_, network.intercepts_
    weights = {**filters, "first": first, "bias": bias, "second": second, "offsets": offsets}
    nodes = [
        *convolve,
        ("Gemm", ["features", "first", "bias"], "sums"),
        ("Relu", ["sums"], "hidden"),
        ("Gemm", ["hidden", "second", "offsets"], "logits"),
        ("Softmax", ["logits"], "probabilities", {"axis": 1}),
    ]
    session = save("digits", graph("digits", nodes, inputs, ("probabilities", ["batch", 10]), weights))
    cases = pictures[:NUM_CASES]
    answers = session.run(None, {"pixels": cases})[0]
    return {"inputs": cases.reshape(NUM_CASES, -1).astype(int).tolist(), "probabilities": rows(answers)}


def graph(name: str, nodes: list[tuple], inputs: dict, output: tuple, weights: dict) -> onnx.ModelProto:
    """Floats become float32, lists int64."""
    tensors = [
        numpy_helper.from_array(np.array(value, np.int64 if isinstance(value, list) else np.float32), key) for key, value in weights.items()
    ]
    made = helper.make_graph(
        [helper.make_node(kind, given, [result], **(attributes[0] if attributes else {})) for kind, given, result, *attributes in nodes],
        name,
        [helper.make_tensor_value_info(key, kind, shape) for key, (kind, shape) in inputs.items()],
        [helper.make_tensor_value_info(output[0], TensorProto.FLOAT, output[1])],
        tensors,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
    onnx.checker.check_model(model, full_check=True)
    return model


def evaluate(model: onnx.ModelProto, values: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {session.get_inputs()[0].name: values})[0]


def save(name: str, model: onnx.ModelProto) -> onnxruntime.InferenceSession:
    path = EXAMPLE / "model" / f"{name}.onnx"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes")
    return onnxruntime.InferenceSession(path)


def rows(values: np.ndarray) -> list[list[float]]:
    """Eight digits have all that float32 has."""
    return [[float(f"{value:.8g}") for value in row] for row in values]


write("onnx-models", {"flowers": flowers(), "topics": topics(), "digits": digits()}, **COMPACT)

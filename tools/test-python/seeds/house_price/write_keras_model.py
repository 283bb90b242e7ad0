"""Writes `house_price_model.h5`, which the tutorial takes for granted, from the weights of the page's model."""

import sys
from pathlib import Path

import tensorflow as tf

from onnx_reader import GRAPH_INITIALIZER, MODEL_GRAPH, TENSOR_NAME, fields, tensor, text

source, target = map(Path, sys.argv[1:])
graph = fields(fields(source.read_bytes())[MODEL_GRAPH][0])
weights = {text(t[TENSOR_NAME])[0]: tensor(t) for t in map(fields, graph[GRAPH_INITIALIZER])}
layers = [
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1, activation="exponential"),
]
model = tf.keras.Sequential([tf.keras.Input((8,)), *layers])
for layer, name in zip(layers, ["0", "2", "4"], strict=True):
    # The file keeps [out, in], Keras [in, out].
    layer.set_weights([weights[f"{name}.weight"].T, weights[f"{name}.bias"]])
model.save(target)

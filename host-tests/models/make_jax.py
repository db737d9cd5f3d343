#!/usr/bin/env python3
"""Small networks as JAX writes them, with JAX's outputs. Weights are random, and constants of the module.

    python3.11 -m venv venv
    venv/bin/pip install jax==0.10.2 numpy==2.3.5
    venv/bin/python make_jax.py

writes each network to jax/: <name>.mlir (StableHLO as text), <name>.generic.mlir (its generic form), <name>.mlirbc (the portable
bytecode), <name>.jaxexport (`jax.export`), <name>.hlo.txt (HLO text) and <name>.npz. A golden file has `in_k` and `out_k`, for
the k-th input and output; the first axis counts cases.
"""
import pathlib

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

FOLDER = pathlib.Path(__file__).parent / "jax"
CASES = 4
random = np.random.default_rng(11)


def numbers(*shape):
    return (random.standard_normal(shape) / np.sqrt(np.prod(shape[:-1]) or 1)).astype(np.float32)


def image():
    """[1, 8, 8, 2] to five probabilities: the layers of make_torch.py's, channel-last."""
    first, scale, shift, last, bias = numbers(3, 3, 2, 8), numbers(8) + 1, numbers(8), numbers(8, 5), numbers(5)
    depthwise, depthwise_bias, pointwise, pointwise_bias = numbers(3, 3, 1, 8), numbers(8), numbers(1, 1, 8, 8), numbers(8)

    def conv(x, weights, groups=1):
        form = ("NHWC", "HWIO", "NHWC")
        return lax.conv_general_dilated(x, weights, (1, 1), "SAME", dimension_numbers=form, feature_group_count=groups)

    def network(image):
        x = jax.nn.relu6(conv(image, first) * scale + shift)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = x + jax.nn.hard_swish(conv(conv(x, depthwise, 8) + depthwise_bias, pointwise) + pointwise_bias)
        return jax.nn.softmax(x.mean((1, 2)) @ last + bias)

    return network, (1, 8, 8, 2)


def recurrent():
    """[1, 6, 4], six steps of a scanned LSTM, to three numbers."""
    into, again, bias, last = numbers(4, 20), numbers(5, 20), numbers(20), numbers(5, 3)

    def network(steps):
        def cell(carry, x):
            h, c = carry
            i, f, g, o = jnp.split(x @ into + h @ again + bias, 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            h = jax.nn.sigmoid(o) * jnp.tanh(c)
            return (h, c), None

        zeros = jnp.zeros((1, 5), np.float32)
        (h, _), _ = lax.scan(cell, (zeros, zeros), steps.transpose(1, 0, 2))
        return h @ last

    return network, (1, 6, 4)


def attention():
    """A block of a transformer, [1, 5, 8] to [1, 5, 8]: the layers and weights of make_torch.py's."""
    layers = "norm", "after", "into", "out", "wide", "narrow"
    weights = np.load(FOLDER.parent / "torch" / "attention.weights.npz")
    gains, shifts = [[weights[f"{layer}.{part}"] for layer in layers[:2]] for part in ("weight", "bias")]
    into, out, wide, narrow = [weights[f"{layer}.weight"].T for layer in layers[2:]]
    biases = [weights[f"{layer}.bias"] for layer in layers[2:]]

    def norm(x, k):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gains[k] + shifts[k]

    def network(tokens):
        q, k, v = (norm(tokens, 0) @ into + biases[0]).reshape(1, 5, 3, 2, 4).transpose(2, 0, 3, 1, 4)
        weights = jax.nn.softmax(q @ k.swapaxes(2, 3) / 2)
        x = tokens + (weights @ v).transpose(0, 2, 1, 3).reshape(1, 5, 8) @ out + biases[1]
        return x + jax.nn.gelu(norm(x, 1) @ wide + biases[2], approximate=False) @ narrow + biases[3]

    return network, (1, 5, 8)


def record(name, network, shape):
    jitted = jax.jit(network)
    lowered = jitted.lower(jax.ShapeDtypeStruct(shape, np.float32))
    module = lowered.compiler_ir("stablehlo")
    exported = export.export(jitted)(jax.ShapeDtypeStruct(shape, np.float32))
    files = {
        "mlir": lowered.as_text().encode(),
        "generic.mlir": module.operation.get_asm(print_generic_op_form=True).encode(),
        "mlirbc": exported.mlir_module_serialized,
        "jaxexport": bytes(exported.serialize()),
        "hlo.txt": lowered.as_text(dialect="hlo").encode(),
    }
    inputs = random.standard_normal((CASES, *shape)).astype(np.float32)
    outputs = np.stack([np.asarray(jitted(x)) for x in inputs])
    for ending, file in files.items():
        (FOLDER / f"{name}.{ending}").write_bytes(file)
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=inputs, out_0=outputs)
    print(name, {ending: len(file) for ending, file in files.items()})


def main():
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # names of files without their folders
    FOLDER.mkdir(exist_ok=True)
    for make in (image, recurrent, attention):
        record(make.__name__, *make())


if __name__ == "__main__":
    main()

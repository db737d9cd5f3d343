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
    """[1, 8, 8, 2] to five probabilities: convolutions, pooling, a residual connection, softmax."""
    first, scale, body, last, bias = numbers(3, 3, 2, 8), numbers(8) + 1, numbers(3, 3, 1, 8), numbers(8, 5), numbers(5)
    form = ("NHWC", "HWIO", "NHWC")

    def network(image):
        x = lax.conv_general_dilated(image, first, (1, 1), "SAME", dimension_numbers=form)
        x = jnp.clip(x * scale, 0, 6)
        x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = x + jax.nn.relu(lax.conv_general_dilated(x, body, (1, 1), "SAME", dimension_numbers=form, feature_group_count=8))
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
    """A block of a transformer, [1, 5, 8] to [1, 5, 8]."""
    into, out, wide, narrow, gain = numbers(8, 24), numbers(8, 8), numbers(8, 16), numbers(16, 8), numbers(8) + 1

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * gain

    def network(tokens):
        q, k, v = jnp.split((norm(tokens) @ into).reshape(1, 5, 2, 12), 3, axis=-1)
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2)
        x = tokens + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(1, 5, 8) @ out
        return x + jax.nn.gelu(norm(x) @ wide) @ narrow

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

#!/usr/bin/env python3
"""Trains scikit-learn's models on real data, exports them to ONNX and records ONNX Runtime's outputs. Half a minute.

    python3.11 -m venv venv
    venv/bin/pip install scikit-learn==1.9.1 skl2onnx==1.20.0 onnx==1.22.0 onnxruntime==1.32.0 numpy==2.3.5 protobuf==6.33.1
    venv/bin/python make_onnx_classical.py        # writes onnx_classical/<name>.onnx and .npz

`trained_*` are whole models with what stands before them in a pipeline. `trees_*` and `vectors_*` are single operators with
random attributes, for the modes that scikit-learn does not write.

The data comes with scikit-learn: `load_digits` (UCI Optical Recognition of Handwritten Digits, CC BY 4.0),
`load_breast_cancer` (UCI Breast Cancer Wisconsin Diagnostic, CC BY 4.0), `load_wine` (UCI Wine, CC BY 4.0), `load_diabetes`
(Efron et al. 2004). Every fifth sample is held out; cases are held-out samples, the least and the greatest of all features,
and zeros. A golden file has `in_0`, and `out_k` for the k-th output; labels that are texts are their indices.
"""
import pathlib

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn import datasets
from sklearn.ensemble import (ExtraTreesClassifier, GradientBoostingClassifier, GradientBoostingRegressor,
                              HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier)
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, OneClassSVM
from sklearn.tree import DecisionTreeClassifier

FOLDER = pathlib.Path(__file__).parent / "onnx_classical"
OPSETS = {"": 21, "ai.onnx.ml": 3}
CASES = 16

# skl2onnx knows estimators by their addresses: none may be given to another one.
kept = []


def data(name):
    """((training inputs, targets), (held-out inputs, targets)): every fifth sample is held out."""
    loaded = getattr(datasets, f"load_{name}")()
    x, y = loaded.data.astype(np.float32), loaded.target
    held = np.arange(len(x)) % 5 == 0
    return (x[~held], y[~held]), (x[held], y[held])


def cases_of(train, test):
    """Held-out samples, and the edges of what there is."""
    edges = [np.nanmin(train, 0), np.nanmax(train, 0), np.zeros_like(train[0])]
    return np.stack([*test[:CASES], *edges])


def write(name, model, cases, outputs):
    """Writes a model with its cases, and its outputs for them."""
    arrays = {f"out_{k}": np.stack(values) for k, values in enumerate(zip(*outputs))}
    FOLDER.mkdir(exist_ok=True)
    onnx.save(model, FOLDER / f"{name}.onnx")
    np.savez_compressed(FOLDER / f"{name}.npz", in_0=cases, **arrays)
    size = (FOLDER / f"{name}.onnx").stat().st_size
    operators = " ".join(dict.fromkeys(node.op_type for node in model.graph.node))
    print(f"{name:32} {size:6} bytes  {operators}", flush=True)


def record(name, model, cases):
    """Writes a model with its golden outputs."""
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    first = session.get_inputs()[0].name
    found = [session.run(None, {first: case[None]}) for case in cases]
    write(name, model, cases[:, None], [[plain(model, value) for value in values] for values in found])


def labels(model):
    """The labels of a classifier, where they are texts."""
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "classlabels_strings":
                return [label.decode() for label in attribute.strings]
    return None


def plain(model, value):
    """Maps of scores as rows, texts as indices."""
    if isinstance(value, list):
        return np.array([list(scores.values()) for scores in value], np.float32)
    if value.dtype == object:
        return np.array([labels(model).index(text) for text in value], np.int64)
    return value


def trained(name, estimator, source, options=None, texts=False, missing=0.0):
    """Trains, exports and records; `missing` of the inputs are no numbers."""
    (x, y), (held, targets) = data(source)
    random = np.random.default_rng(3)
    for part in (x, held):
        part[random.random(part.shape) < missing] = np.nan
    names = np.array([f"class {k}" for k in range(10)])
    y, targets = (names[y], names[targets]) if texts else (y, targets)
    estimator.fit(x, y)
    kept.append(estimator)
    last = estimator.steps[-1][1] if hasattr(estimator, "steps") else estimator
    options = {id(last): dict(options or {})}
    model = to_onnx(estimator, initial_types=[("x", FloatTensorType([1, x.shape[1]]))], options=options, target_opset=OPSETS)
    record(f"trained_{name}", model, cases_of(x, held))
    if not hasattr(estimator, "score"):
        return
    print(f"{'':32} score of scikit-learn on held-out samples: {estimator.score(held, targets):.3f}", flush=True)


ROWS = {"zipmap": False}
trained("forest", RandomForestClassifier(7, max_leaf_nodes=20, random_state=1), "digits", ROWS)
trained("forest_two", RandomForestClassifier(6, max_leaf_nodes=12, random_state=1), "breast_cancer", ROWS)
trained("extra_trees_texts", ExtraTreesClassifier(6, max_leaf_nodes=12, random_state=1), "wine", ROWS, texts=True)
trained("tree_zipmap", DecisionTreeClassifier(max_leaf_nodes=12, random_state=1), "wine")
trained("boosting", GradientBoostingRegressor(n_estimators=20, max_depth=3, random_state=1), "diabetes")
trained("boosting_two", GradientBoostingClassifier(n_estimators=12, max_depth=3, random_state=1), "breast_cancer", ROWS)
trained("boosting_classes", GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=1), "wine", ROWS)
trained("histogram_missing", HistGradientBoostingRegressor(max_iter=12, max_leaf_nodes=12, random_state=1), "diabetes", missing=0.2)
trained("histogram_classes_missing", HistGradientBoostingClassifier(max_iter=6, max_leaf_nodes=8, random_state=1), "wine", ROWS, missing=0.2)
trained("logistic_zipmap", make_pipeline(StandardScaler(), LogisticRegression()), "breast_cancer")
trained("logistic_texts", make_pipeline(StandardScaler(), LogisticRegression()), "wine", ROWS, texts=True)
trained("linear_vectors", make_pipeline(StandardScaler(), LinearSVC()), "wine", {})
trained("gradient_descent", make_pipeline(StandardScaler(), SGDClassifier(loss="log_loss", random_state=1)), "digits", ROWS)
trained("vectors_radial", make_pipeline(StandardScaler(), SVC(probability=True, random_state=1)), "wine", ROWS)
trained("vectors_two", make_pipeline(StandardScaler(), SVC(probability=True, random_state=1)), "breast_cancer", ROWS)
trained("vectors_zipmap", make_pipeline(StandardScaler(), SVC(kernel="poly", degree=3, probability=True, random_state=1)), "wine")
trained("vectors_raw", make_pipeline(StandardScaler(), NuSVC(kernel="sigmoid", nu=0.3)), "wine", ROWS)
trained("vectors_linear", make_pipeline(MinMaxScaler(), SVC(kernel="linear")), "wine", ROWS)
trained("vectors_raw_two", make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1)), "breast_cancer", ROWS)
trained("vectors_one_class", make_pipeline(StandardScaler(), OneClassSVM(nu=0.02)), "wine")
trained("vectors_regressor", make_pipeline(StandardScaler(), SVR(C=20, epsilon=60)), "diabetes")
trained("perceptron", make_pipeline(MinMaxScaler(), MLPClassifier(hidden_layer_sizes=(16,), max_iter=300, random_state=1)), "digits", ROWS)
trained("perceptron_regressor", make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(12,), activation="tanh", learning_rate_init=0.03, max_iter=600, random_state=1)), "diabetes")
trained("normalised", make_pipeline(Normalizer(), MinMaxScaler(), Ridge()), "diabetes")
trained("normalised_largest", make_pipeline(Normalizer("max"), StandardScaler(), LogisticRegression()), "wine", ROWS)
trained("bayes", GaussianNB(), "wine", ROWS)
trained("bayes_bits", make_pipeline(Binarizer(threshold=7.5), BernoulliNB()), "digits", ROWS)


# ---- Single operators

random = np.random.default_rng(11)
MODES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
FEATURES = 5


def grid(*shape):
    """Numbers of which many are equal."""
    return (random.integers(-4, 5, shape) / 2).astype(np.float32)


def single(name, operator, outputs, opset=3, missing=0.15, cases=12, rows=3, width=FEATURES, instead=None, **attributes):
    """One operator of ai.onnx.ml on rows of features, some of them no numbers. Attributes that ONNX Runtime is given `instead` are for where it is wrong."""
    x = grid(cases, rows, width)
    x[random.random(x.shape) < missing] = np.nan
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, [rows, width])
    results = [helper.make_tensor_value_info(f"y{k}", kind, None) for k, kind in enumerate(outputs)]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", opset)]

    def model(**attributes):
        node = helper.make_node(operator, ["x"], [result.name for result in results], domain="ai.onnx.ml", **attributes)
        return helper.make_model(helper.make_graph([node], name, [given], results), opset_imports=opsets, ir_version=10)

    bytes_of = model(**(attributes | (instead or {}))).SerializeToString()
    session = onnxruntime.InferenceSession(bytes_of, providers=["CPUExecutionProvider"])
    write(name, model(**attributes), x, [session.run(None, {"x": case}) for case in x])


def forest(prefix, trees, depth, targets, modes=MODES, several=False, sign=True):
    """Attributes of random trees; leaves are numbers for one target, or for `several`."""
    nodes = {key: [] for key in ["treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids",
                                 "missing_value_tracks_true"]}
    leaves = {key: [] for key in ["treeids", "nodeids", "ids", "weights"]}

    def add(tree, level):
        node = len([k for k in nodes["treeids"] if k == tree])
        place = len(nodes["treeids"])
        is_leaf = level == depth or (level and random.random() < 0.2)
        row = dict(treeids=tree, nodeids=node, featureids=int(random.integers(FEATURES)), values=float(grid()),
                   modes="LEAF" if is_leaf else str(random.choice(modes)), truenodeids=0, falsenodeids=0,
                   missing_value_tracks_true=int(random.integers(2)))
        for key, value in row.items():
            nodes[key].append(value)
        if is_leaf:
            for target in range(targets) if several else [int(random.integers(targets))]:
                for key, value in dict(treeids=tree, nodeids=node, ids=target, weights=float(random.uniform(-sign, 1))).items():
                    leaves[key].append(value)
        else:
            nodes["truenodeids"][place] = add(tree, level + 1)
            nodes["falsenodeids"][place] = add(tree, level + 1)
        return node

    for tree in range(trees):
        add(tree, 0)
    return {f"nodes_{key}": value for key, value in nodes.items()} | {f"{prefix}_{key}": value for key, value in leaves.items()}


def ensemble(trees, depth, targets):
    """Attributes of random trees in the newer form, some of whose branches ask for a set."""
    nodes = {key: [] for key in ["featureids", "modes", "splits", "truenodeids", "trueleafs", "falsenodeids", "falseleafs",
                                 "missing_value_tracks_true"]}
    ids, weights, sets = [], [], []

    def leaf():
        ids.append(int(random.integers(targets)))
        weights.append(random.uniform(-1, 1))
        return len(ids) - 1, 1

    def add(level):
        place = len(nodes["modes"])
        mode = int(random.integers(7))
        row = dict(featureids=int(random.integers(FEATURES)), modes=mode, splits=float(grid()), truenodeids=0, trueleafs=0,
                   falsenodeids=0, falseleafs=0, missing_value_tracks_true=int(random.integers(2)))
        for key, value in row.items():
            nodes[key].append(value)
        if mode == 6:
            sets.extend([*random.choice([0.0, 1.0, 2.0], int(random.integers(1, 4)), replace=False), np.nan])
        for way in ["true", "false"]:
            below = leaf() if level == depth or random.random() < 0.2 else (add(level + 1), 0)
            nodes[f"{way}nodeids"][place], nodes[f"{way}leafs"][place] = below
        return place

    roots = [add(0) for _ in range(trees)]
    # A tree that is a leaf.
    nodes = {key: [*value, {"modes": 0, "splits": 0.0, "trueleafs": 1, "falseleafs": 1}.get(key, 0)] for key, value in nodes.items()}
    roots.append(len(nodes["modes"]) - 1)
    attributes = {f"nodes_{key}": value for key, value in nodes.items()}
    tensors = dict(nodes_modes=np.array(nodes["modes"], np.uint8), nodes_splits=np.array(nodes["splits"], np.float32),
                   leaf_weights=np.array(weights, np.float32), membership_values=np.array(sets, np.float32))
    attributes |= {key: numpy_helper.from_array(value, key) for key, value in tensors.items()}
    return attributes | dict(leaf_targetids=ids, tree_roots=roots, n_targets=targets)


def vectors(classes, kernel, probabilities=False, each=4):
    """Attributes of random support vectors."""
    pairs = classes * (classes - 1) // 2
    counts = [int(k) for k in random.integers(1, each + 1, classes)]
    numbers = lambda *shape: random.uniform(-1, 1, shape).astype(np.float32).ravel().tolist()
    attributes = dict(vectors_per_class=counts, support_vectors=numbers(sum(counts), FEATURES), rho=numbers(pairs),
                      coefficients=numbers(classes - 1, sum(counts)), kernel_type=kernel, kernel_params=[0.3, 0.5, 3.0],
                      classlabels_ints=[10 * k - 5 for k in range(classes)])
    if probabilities:
        attributes |= dict(prob_a=[-1.5 - abs(a) for a in numbers(pairs)], prob_b=numbers(pairs))
    return attributes


FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64
for mode in MODES:
    single(f"trees_{mode[7:].lower()}", "TreeEnsembleRegressor", [FLOAT], n_targets=1, **forest("target", 2, 3, 1, [mode]))
single("trees_modes", "TreeEnsembleRegressor", [FLOAT], n_targets=3, base_values=[1.0, -2.0, 0.5], **forest("target", 4, 4, 3, several=True))
for join in ["AVERAGE", "MIN", "MAX"]:
    single(f"trees_{join.lower()}", "TreeEnsembleRegressor", [FLOAT], n_targets=2, aggregate_function=join, **forest("target", 4, 3, 2))
single("trees_two_classes", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[3, -3], **forest("class", 3, 3, 1))
single("trees_two_logistic", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[3, -3], post_transform="LOGISTIC",
       base_values=[0.25], **forest("class", 3, 3, 1))
single("trees_two_softmax", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[3, -3], post_transform="SOFTMAX",
       **forest("class", 3, 3, 1))
single("trees_two_shares", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[3, -3], **forest("class", 1, 3, 1, sign=False))
single("trees_classes_softmax", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[0, 5, 2, 9], post_transform="SOFTMAX",
       base_values=[0.1, 0.2, -0.3, 0.4], **forest("class", 4, 3, 4, several=True))
single("trees_softmax_zero", "TreeEnsembleClassifier", [INT, FLOAT], classlabels_int64s=[0, 5, 2, 9], post_transform="SOFTMAX_ZERO",
       **forest("class", 2, 3, 4, several=True))
for k, join in enumerate(["average", "sum", "min", "max"]):
    single(f"trees_ensemble_{join}", "TreeEnsemble", [FLOAT], opset=5, aggregate_function=k, **ensemble(3, 3, 2))
for transform in [1, 2]:
    # ONNX Runtime 1.32 takes SOFTMAX (1) for LOGISTIC (2), and the other way round.
    single(f"trees_ensemble_transform_{transform}", "TreeEnsemble", [FLOAT], opset=5, instead=dict(post_transform=3 - transform),
           post_transform=transform, **ensemble(2, 3, 3))
for kernel in ["LINEAR", "POLY", "RBF", "SIGMOID"]:
    single(f"vectors_{kernel.lower()}_2", "SVMClassifier", [INT, FLOAT], missing=0, **vectors(2, kernel))
    single(f"vectors_{kernel.lower()}_4", "SVMClassifier", [INT, FLOAT], missing=0, **vectors(4, kernel))
single("vectors_shares_2", "SVMClassifier", [INT, FLOAT], missing=0, **vectors(2, "RBF", True))
single("vectors_shares_5", "SVMClassifier", [INT, FLOAT], missing=0, **vectors(5, "RBF", True))
single("vectors_softmax", "SVMClassifier", [INT, FLOAT], missing=0, post_transform="SOFTMAX", **vectors(3, "SIGMOID", True))
single("vectors_logistic", "SVMClassifier", [INT, FLOAT], missing=0, post_transform="LOGISTIC", **vectors(3, "LINEAR"))
single("vectors_logistic_2", "SVMClassifier", [INT, FLOAT], missing=0, post_transform="LOGISTIC", **vectors(2, "LINEAR"))
single("vectors_softmax_2", "SVMClassifier", [INT, FLOAT], missing=0, post_transform="SOFTMAX", **vectors(2, "POLY"))
for classes in [2, 3]:
    single(f"vectors_none_{classes}", "SVMClassifier", [INT, FLOAT], missing=0, classlabels_ints=[7, 1, 4][:classes], rho=[0.2], kernel_params=[0.0] * 3,
           coefficients=random.uniform(-1, 1, classes * FEATURES).astype(np.float32).tolist())
for transform in ["NONE", "LOGISTIC", "SOFTMAX"]:
    single(f"linear_two_{transform.lower()}", "LinearClassifier", [INT, FLOAT], missing=0, classlabels_ints=[7, 4], intercepts=[0.1], post_transform=transform,
           coefficients=random.uniform(-1, 1, FEATURES).astype(np.float32).tolist())
single("imputed", "Imputer", [FLOAT], imputed_value_floats=[float(k) for k in range(FEATURES)], replaced_value_float=float("nan"))
single("imputed_number", "Imputer", [FLOAT], imputed_value_floats=[9.0], replaced_value_float=0.5)
single("one_hot", "OneHotEncoder", [FLOAT], missing=0, cats_int64s=[1, 0, -2, 2])

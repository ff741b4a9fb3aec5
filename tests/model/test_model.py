"""Model: checked when it is made, and the same after a trip through JSON."""

import copy
import json
import pickle
from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pytest

import lamina
from lamina.kernels import Scaled
from lamina.model.model import Model

MODELS = {
    "default": Model(),
    "sum and product": Model(lamina.Matern32() * lamina.Periodic() + lamina.SquaredExponential(2.0), mean="linear"),
    "trend terms": Model(lamina.Matern12(3.0) + lamina.Constant(sd=2.0, mean=1.0) + lamina.Linear(origin=1950.0)),
    "everything": Model(
        lamina.Matern52(),
        priors={"length": (500, 3), "alpha": (np.float64(4), 2)},
        fixed={"sd": np.float32(2.0)},
        estimate="t_scale",
        outliers="mixture",
        offsets=0.1,
        memory=np.True_,
        engine="markov",
    ),
}


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_a_model_comes_back_from_json(model):
    text = json.dumps(model.to_dict(), allow_nan=False)
    assert Model.from_dict(json.loads(text)) == model


def test_a_kernel_that_was_defined_elsewhere_comes_back():
    @dataclass(frozen=True)
    class Cauchy(Scaled):
        """k(r) = sd² / (1 + r² / length²)."""

    model = Model(Cauchy(3.0) + lamina.Constant())
    assert Model.from_dict(model.to_dict()) == model
    with pytest.raises(lamina.KernelError, match="there is no kernel Unknown"):
        Model.from_dict(model.to_dict() | {"kernel": {"kind": "Unknown"}})


def test_fields_are_plain_values():
    model = MODELS["everything"]
    assert model.estimate == ("t_scale",)
    assert model.priors == {"length": (500.0, 3.0), "alpha": (4.0, 2.0)}
    assert model.memory is True
    with pytest.raises(FrozenInstanceError):
        model.gaps = "uniform"
    for one in model.priors, model.fixed:
        with pytest.raises(TypeError):
            one["length"] = 1.0


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())
def test_copies_are_equal_and_have_the_same_hash(model):
    for other in pickle.loads(pickle.dumps(model)), copy.deepcopy(model), replace(model):
        assert other == model
        assert hash(other) == hash(model)


def test_a_dict_that_changes_later_does_not_change_the_model():
    fixed = {"length": 3.0}
    model = Model(fixed=fixed)
    fixed["length"] = 4.0
    assert model.fixed == {"length": 3.0}


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"offsets": -1.0}, "offsets takes the prior standard deviation of the offsets, a positive number, got -1.0"),
        ({"outliers": "all"}, "outliers must be 'mixture', 'student' or None, got 'all'"),
        ({"gaps": "poisson"}, "unknown gap prior 'poisson'"),
        ({"memory": True, "gaps": "uniform"}, 'memory between gaps needs gaps="gamma"'),
    ],
)
def test_what_no_record_could_have_is_refused_at_once(fields, text):
    with pytest.raises(lamina.MethodError, match=text):
        Model(**fields)


def test_settings_are_split_into_the_model_and_options_of_the_method():
    model, options = Model.split({"kernel": None, "gaps": "uniform", "chains": 2, "cores": None})
    assert model == Model(gaps="uniform")
    assert options == {"chains": 2, "cores": None}


def test_the_engine_follows_from_the_kernel():
    assert Model().runs_on == "markov"
    assert Model(engine="dense").runs_on == "dense"
    assert Model(lamina.Periodic()).runs_on == "dense"

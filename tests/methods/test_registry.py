"""What each method declares about itself is what it does."""

from inspect import signature
from typing import Literal, get_args, get_origin, get_type_hints

import fits
import numpy as np
import pytest

import lamina
from lamina.fitting import prepare
from lamina.gaps import PRIORS
from lamina.methods.npv.covariance import COVARIANCES
from lamina.methods.registry import DEFAULT, METHODS
from lamina.model.model import MEANS, OUTLIERS, Model
from lamina.output.settings import KERNELS, kernel_by_name

each = pytest.mark.parametrize("method", METHODS.values(), ids=METHODS.keys())


@each
def test_options_are_the_arguments_of_run(method):
    assert METHODS[method.name] is method
    assert not {"problem", "seed"} & set(method.options)
    assert method.chains == ({"progress", "checkpoint"} <= set(method.options))
    with pytest.raises(lamina.MethodError, match=f'method="{method.name}" has no option .no_such.; it has: '):
        prepare(fits.record(), method.name, no_such=1)


def test_the_command_line_has_every_method_that_needs_only_a_table():
    from lamina.cli.options import OPTIONS

    annotated, default = OPTIONS["method"]
    assert set(get_args(annotated.__origin__)) == {name for name, one in METHODS.items() if not one.needs}
    assert default == DEFAULT == signature(lamina.fit).parameters["method"].default


def test_the_choices_of_the_command_line_are_those_of_the_library():
    from lamina.cli.options import OPTIONS

    def choices(name):
        literal, *_ = (one for one in (OPTIONS[name][0].__origin__, *get_args(OPTIONS[name][0].__origin__))
                       if get_origin(one) is Literal)  # fmt: skip
        return set(get_args(literal))

    assert choices("gaps") == set(PRIORS)
    assert choices("mean") == set(MEANS)
    assert choices("outliers") == set(OUTLIERS) - {None}
    assert choices("npv_covariance") == set(COVARIANCES)
    annotated, default = OPTIONS["kernel"]
    listed = annotated.__metadata__[0].help.split(", or a sum")[0]
    assert listed.split(", ") == list(KERNELS)
    assert type(kernel_by_name(default)) is type(Model().kernel)


def test_the_signature_of_fit_has_every_method():
    assert set(get_args(get_type_hints(lamina.fit)["method"])) == set(METHODS)


@each
def test_what_a_method_cannot_do_is_refused_before_it_runs(method):
    needs = {"members": np.tile(fits.TRUE, (3, 1))} if method.needs else {}
    limited = fits.record(limit=["above"] + [None] * 9)
    for record, model, able, text in (
        (fits.record(), Model(memory=True), method.has_memory, "has no memory between gaps"),
        (fits.record(), Model(outliers="student"), method.has_renewals, "has no outliers"),
        (limited, Model(), method.has_renewals, "has no limits, see row 0 "),
        (
            fits.record(),
            Model(estimate="y_scale"),
            method.has_gap_prior,
            "cannot estimate y_scale; npv, mcmc, nuts can",
        ),
    ):
        if able:
            assert prepare(record, method.name, model, **needs).problem.model == model
        else:
            with pytest.raises(lamina.MethodError, match=f'method="{method.name}" {text}'):
                prepare(record, method.name, model, **needs)


def test_a_problem_is_built_once(monkeypatch):
    from lamina import fitting

    built = []

    def counting(*arguments):
        built.append(fitting_build(*arguments))
        return built[-1]

    fitting_build = fitting.build_problem
    monkeypatch.setattr(fitting, "build_problem", counting)
    found = fits.quietly(fits.record(), "gp", starts=1)
    assert len(built) == 1
    assert found.problem is built[0]
    assert found.model is built[0].model

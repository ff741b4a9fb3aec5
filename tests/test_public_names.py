"""What users may rely on: the names, and that asking for them is cheap."""

import doctest
import json
import subprocess
import sys

import pytest

import lamina

NAMES = [
    "ClusterError",
    "Constant",
    "EachSite",
    "KernelError",
    "LaminaError",
    "Linear",
    "Matern12",
    "Matern32",
    "Matern52",
    "MethodError",
    "MissingExtraError",
    "Nearby",
    "NotConverged",
    "OrderError",
    "Periodic",
    "Posterior",
    "RationalQuadratic",
    "Record",
    "RecordError",
    "SquaredExponential",
    "StorageError",
    "TableError",
    "Validation",
    "WhiteNoise",
    "WriteError",
    "age_depth",
    "batch",
    "datasets",
    "dates",
    "dense",
    "fit",
    "functionals",
    "gaps",
    "interval_rates",
    "kernels",
    "load",
    "log_likelihood",
    "markov",
    "paper",
    "plots",
    "read",
    "read_ensemble",
    "report",
    "tables",
    "validate",
]
HEAVY = ["arviz", "matplotlib", "numba", "numpy", "nutpie", "pandas", "scipy", "xarray"]


def in_new_process(code):
    """What the code prints, as JSON, in a Python that has imported nothing yet."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_the_public_names_are_these():
    assert sorted(lamina.__all__) == NAMES
    assert sorted(dir(lamina)) == sorted([*NAMES, "__version__"])


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_exists_and_is_documented(name):
    assert getattr(lamina, name).__doc__


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Matern72'"):
        lamina.Matern72  # noqa: B018


def test_the_version_is_that_of_the_package():
    from importlib.metadata import version

    assert lamina.__version__ == version("lamina")


def test_importing_the_package_imports_nothing_heavy():
    loaded = in_new_process("import lamina, json, sys; print(json.dumps(sorted(sys.modules)))")
    assert "lamina" in loaded
    assert not set(HEAVY) & set(loaded)


def test_kernels_and_likelihood_come_without_pandas_and_plots():
    code = "import lamina, json, sys; lamina.log_likelihood; print(json.dumps(sorted(sys.modules)))"
    assert not {"arviz", "matplotlib", "nutpie", "pandas"} & set(in_new_process(code))


def test_the_examples_of_the_package_run():
    found = doctest.testmod(lamina, raise_on_error=False)
    assert found.attempted > 0
    assert found.failed == 0

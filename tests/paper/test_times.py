"""The paper's training times: everything is timed, and the claims follow from the numbers."""

import pandas as pd
import pytest

import lamina
from lamina import paper
from lamina.paper import times
from lamina.paper.claims import of_timing
from lamina.paper.figures import steps


@pytest.fixture(scope="module")
def results():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(times, "ITERATIONS", 20)
        patch.setattr(times, "SECONDS_PER_STEP", 0.0)
        return paper.timing(sizes=(5, 10), repetitions=1)


@pytest.mark.slow
def test_every_method_and_algorithm_is_timed(results):
    fits, one_step = results[results["kind"] == "fit"], results[results["kind"] == "step"]
    assert set(zip(fits["method"], fits["algorithm"], strict=True)) == {
        (method, engine) for method in ("npv", "mcmc", "nigp", "gp") for engine in ("markov", "dense")
    }
    said = dict(zip(fits["method"], fits["paper_seconds"], strict=True))
    assert said == {"npv": 19, "mcmc": 61, "nigp": 106, "gp": 0.3}
    assert set(one_step["n"]) == {5, 10}
    assert (results["seconds"] > 0).all()
    assert len(steps(results).axes) == 3


def test_the_claim_is_about_the_order_of_the_times():
    def table(npv, mcmc, nigp):
        seconds = {"npv": npv, "mcmc": mcmc, "nigp": nigp, "gp": 0.1}
        rows = [("fit", name, engine, s) for name, s in seconds.items() for engine in ("markov", "dense")]
        return pd.DataFrame(rows, columns=["kind", "method", "algorithm", "seconds"])

    assert all(claim.holds for claim in of_timing(table(1.0, 2.0, 3.0)))
    assert not any(claim.holds for claim in of_timing(table(2.0, 1.0, 3.0)))


def test_exponents_are_those_of_the_two_largest_sizes():
    rows = [("step", "gp", "dense", n, float(n) ** 3) for n in (10, 20, 40)]
    found = times.exponents(pd.DataFrame(rows, columns=["kind", "method", "algorithm", "n", "seconds"]))
    assert found == {("gp", "dense"): pytest.approx(3.0)}


def test_sizes_that_cannot_be_fitted_are_refused():
    with pytest.raises(lamina.MethodError, match="sizes must be whole numbers of at least 3"):
        paper.timing(sizes=(2,))

"""The application: the two methods that need no sampling, compared as in Table 1."""

import numpy as np
import pytest

import lamina
from lamina import paper
from lamina.paper.claims import of_sealevel
from lamina.paper.figures import added, figure2
from lamina.paper.nassau import INTERVAL, YEARS


@pytest.fixture(scope="module")
def found():
    return paper.sealevel()


@pytest.mark.slow
def test_pairs_are_compared_as_the_closed_forms_say(found):
    curve = dict(iter(found.curve.groupby("method")))
    pairs = found.pairs.set_index(["first", "second"])
    assert len(pairs) == 15
    a, b = curve["nigp"], curve["gp"]
    off = a["mean"].to_numpy() - b["mean"].to_numpy()
    assert pairs["difference"]["nigp", "gp"] == pytest.approx(1000 * np.abs(off).mean())
    va, vb = a["sd"].to_numpy() ** 2, b["sd"].to_numpy() ** 2
    one_way = 0.5 * (np.log(vb / va) + (va + off**2) / vb - 1.0)
    other = 0.5 * (np.log(va / vb) + (vb + off**2) / va - 1.0)
    assert pairs["divergence"]["nigp", "gp"] == pytest.approx((one_way + other).mean())
    assert pairs["paper_difference"]["npv", "mcmc"] == 1.23


@pytest.mark.slow
def test_the_rate_is_that_of_the_curve(found):
    level = found.curve[found.curve["method"] == "lamina"].set_index("at")["mean"]
    slope = 1000.0 * (level[1950.0] - level[1850.0]) / 100.0
    own = found.rate[(found.rate["method"] == "lamina") & found.rate["at"].between(1850, 1950)]["mean"]
    assert own.mean() == pytest.approx(slope, abs=0.1)
    ends = 1000.0 * (level[INTERVAL[1]] - level[INTERVAL[0]]) / 100.0
    interval = found.interval.set_index("method").loc["lamina"]
    assert interval["mean"] == pytest.approx(ends, abs=5 * interval["sd"] / 60)
    assert interval["q5"] < interval["mean"] < interval["q95"]


@pytest.mark.slow
def test_exact_years_stay_and_corrected_ages_are_in_order(found):
    own = found.inputs[found.inputs["method"] == "lamina"]
    exact = own["t_sd"] == 0
    assert own["mean"][exact].tolist() == own["t"][exact].tolist()
    core = own[~exact]["mean"].to_numpy()
    assert (np.diff(core) > 0).all()
    assert set(found.inputs["method"]) == {"npv", "mcmc", "npv mixture, uniform", "lamina"}


@pytest.mark.slow
def test_claims_and_figures(found):
    claims = of_sealevel(found)
    assert [claim.claim.split(":")[0] for claim in claims] == ["mean absolute difference"] * 2 + [
        "symmetrised KL divergence"
    ] * 2
    assert claims[0].holds
    assert len(figure2(found).axes) == 4
    level = added(found).axes[0]
    assert level.lines[-1].get_xdata() == pytest.approx(YEARS)


def test_an_unknown_method_is_named():
    with pytest.raises(lamina.MethodError, match="there is no method 'bacon'"):
        paper.sealevel(methods=["bacon"])

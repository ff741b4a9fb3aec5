"""Answers of a field: curves of sites and other places, what is common, parts that add up, files, and messages."""

import warnings
from functools import cache

import numpy as np
import pytest

import lamina
from lamina import Constant, EachSite, KernelError, Linear, Matern12, Matern32, MethodError, Nearby
from lamina.field import oracle
from lamina.fitting import prepare
from lamina.posterior.fields import problem_of
from lamina.posterior.fields.identifiability import explain_trends

pytestmark = pytest.mark.slow
NAMES = ("Cape", "Harbor", "Island")
AT = np.array([9.0, 1.0, 5.5])  # in no order


def make_record(**more):
    rng = np.random.default_rng(0)
    site = np.repeat([0, 1, 2], [7, 6, 5])
    t = np.concatenate([np.sort(rng.uniform(0.0, 10.0, n)) for n in (7, 6, 5)])
    y = np.sin(t) + 0.4 * site + 0.1 * site * t + rng.normal(0.0, 0.1, len(t))
    places = {"site": [NAMES[s] for s in site], "latitude": [35.0, 38.0, 39.0], "longitude": [-76.0, -74.0, -70.0]}
    return lamina.Record(t + rng.normal(0.0, 0.2, len(t)), 0.2, y, 0.1, **places | more)


@cache
def posterior(**more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        return lamina.fit(make_record(**more), draws=40, warmup=60, max_sweeps=20, chains=2, seed=1)


def test_curves_of_sites_and_places_average_those_of_dense_matrices():
    found = posterior()
    field, draws = problem_of(found), found.draws
    for where, place in ({"site": "Harbor"}, 1), ({"where": (37.0, 288.0)}, (37.0, -72.0)):
        dense = [
            oracle.predict(
                field.field, phi[: found.problem.n_kernel], field.data, tau, found.problem.to_internal(AT), place
            )
            for tau, phi in zip(draws.tau, draws.phi, strict=True)
        ]
        mean, var = np.array([one for one, _ in dense]), np.array([np.diag(one) for _, one in dense])
        sd = np.sqrt(var.mean(axis=0) + mean.var(axis=0))
        for table, part in (found.curve(AT, **where), slice(0, 3)), (found.rate(AT, **where), slice(3, 6)):
            np.testing.assert_allclose(table["mean"], mean.mean(axis=0)[part], atol=1e-7)
            np.testing.assert_allclose(table["sd"], sd[part], rtol=1e-6)
            np.testing.assert_array_equal(table["at"], AT)


@pytest.mark.parametrize("where", [{"site": "Cape"}, {"where": (36.0, -73.0)}])
def test_components_add_up_to_the_curve_and_draws_have_its_moments(where):
    found = posterior()
    curve, parts = found.curve(AT, **where), found.components(AT, **where)
    assert list(parts["component"].unique()) == ["common", "linear", "regional", "offset"]
    np.testing.assert_allclose(parts.groupby("at", sort=False)["mean"].sum(), curve["mean"], atol=1e-9)
    drawn = found.sample_components(AT, n=400, **where)
    total = found.sample_curves(AT, n=400, **where)
    np.testing.assert_allclose(sum(drawn.values()), total, atol=1e-12)
    error = curve["sd"] / np.sqrt(400)
    assert (np.abs(total.mean(axis=0) - curve["mean"]) < 4.5 * error).all()
    np.testing.assert_allclose(total.std(axis=0), curve["sd"], rtol=0.25)
    rate, slopes = found.rate(AT, **where), found.sample_rates(AT, n=400, **where)
    assert (np.abs(slopes.mean(axis=0) - rate["mean"]) < 4.5 * rate["sd"] / np.sqrt(400)).all()


def test_rates_are_the_slopes_of_curves_and_the_common_curve_is_a_component():
    found = posterior()
    near = np.array([4.999, 5.001])
    curve, rate = found.curve_and_rate(near, site="Island")
    np.testing.assert_allclose(np.diff(curve["mean"]) / 0.002, rate["mean"].mean(), rtol=1e-3)
    parts = found.components(AT, site="Island").set_index("component")
    np.testing.assert_allclose(found.common(AT)["mean"], parts.loc["common", "mean"])
    slopes = found.components(AT, rate=True, site="Island").set_index("component")
    np.testing.assert_allclose(found.common(AT, rate=True)["mean"], slopes.loc["common", "mean"])
    np.testing.assert_allclose(np.ptp(slopes.loc["linear", "mean"]), 0.0, atol=1e-12)


def test_draws_at_two_places_are_of_one_field():
    found = posterior()

    def without_offset(**where):
        drawn = found.sample_components(AT, n=200, **where)
        return sum(drawn.values()) - drawn["offset"]

    at_site, near = without_offset(site="Cape")[:, 0], without_offset(where=(35.0001, -76.0))[:, 0]
    far = without_offset(where=(39.0, -70.0001))[:, 0]
    assert np.corrcoef(near, at_site)[0, 1] > 0.99
    assert np.corrcoef(far, at_site)[0, 1] < 0.9


def test_a_scale_of_ages_gives_the_same_field():
    """Time turned round: the same likelihood, rates of the other sign."""
    record = make_record(gia=[0.1, 0.2, 0.3])
    turned = lamina.Record(
        *(-record.t, record.t_sd, record.y, record.y_sd, "decreasing"),
        site=record.to_frame()["site"], latitude=[35.0, 38.0, 39.0], longitude=[-76.0, -74.0, -70.0],
        gia=[-0.1, -0.2, -0.3],
    )  # fmt: skip
    kernel = Matern32() + Matern32() * Nearby() + Linear(origin=10.0) * Nearby() + Constant() * EachSite()
    other = Matern32() + Matern32() * Nearby() + Linear(origin=-10.0) * Nearby() + Constant() * EachSite()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        one, two = (
            lamina.fit(a, kernel=k, draws=20, warmup=30, max_sweeps=10, chains=2, seed=3)
            for a, k in ((record, kernel), (turned, other))
        )
    np.testing.assert_allclose(one.curve(AT, site="Cape")["mean"], two.curve(-AT, site="Cape")["mean"], atol=1e-6)
    np.testing.assert_allclose(one.rate(AT, site="Cape")["mean"], -two.rate(-AT, site="Cape")["mean"], atol=1e-6)


def test_a_field_is_saved_and_loaded(tmp_path):
    found = posterior()
    found.save(tmp_path / "field.nc")
    again = lamina.load(tmp_path / "field.nc")
    assert again.record == found.record
    for name in NAMES:
        np.testing.assert_array_equal(again.curve(AT, site=name)["q95"], found.curve(AT, site=name)["q95"])
    assert repr(again) == repr(found)
    assert again.summary() == found.summary()


def test_inputs_have_the_site_of_each_row_and_the_order_of_each_core():
    found = posterior()
    table = found.inputs()
    assert list(table["site"]) == [NAMES[s] for s in found.record.places.index]
    for name in NAMES:
        assert (np.diff(found.tau_of(np.flatnonzero(table["site"] == name)), axis=1) > 0.0).all()


def test_places_and_times_beyond_the_data_are_marked():
    found = posterior()
    assert not found.curve(AT, site="Cape")["extrapolated"].any()
    assert found.curve([1e3], site="Cape")["extrapolated"].all()
    assert found.curve(AT, where=(-40.0, 100.0))["extrapolated"].all()
    assert not found.curve(AT, where=(37.0, -74.0))["extrapolated"].any()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "give a place"),
        ({"site": "Harbour"}, "Did you mean 'Harbor'"),
        ({"where": (-74.0, 138.0)}, None),
        ({"where": (138.0, 35.0)}, "swapped"),
        ({"where": "Cape"}, "latitude, longitude"),
        ({"site": "Cape", "where": (1.0, 2.0)}, "not both"),
    ],
)
def test_a_place_is_needed_and_checked(given, message):
    if message is None:
        assert posterior().curve(AT, **given)["extrapolated"].all()
        return
    with pytest.raises(MethodError, match=message):
        posterior().curve(AT, **given)


def test_one_curve_has_no_places():
    record = lamina.Record(t=np.arange(5.0), t_sd=0.0, y=np.sin(np.arange(5.0)), y_sd=0.1)
    found = lamina.fit(record, "gp")
    for given in {"site": "Cape"}, {"where": (1.0, 2.0)}:
        with pytest.raises(MethodError, match="record with places"):
            found.curve(AT, **given)
    with pytest.raises(MethodError, match="no places"):
        found.common(AT)


@pytest.mark.parametrize(
    ("record", "options", "error", "message"),
    [
        ({}, {"kernel": Matern32()}, KernelError, "no term of the kernel is in space"),
        ({}, {"kernel": lamina.SquaredExponential() * Nearby()}, KernelError, "state-space"),
        ({"gia": [0.1, 0.2, 0.3]}, {"kernel": Matern32() * Nearby()}, KernelError, "gia"),
        ({}, {"kernel": Constant() * EachSite() + Linear() * Nearby()}, KernelError, "varies in time"),
        ({}, {"offsets": 1.0}, MethodError, "EachSite"),
        ({}, {"engine": "dense"}, MethodError, "engine"),
        ({}, {"method": "nuts"}, MethodError, "mcmc"),
    ],
)
def test_what_cannot_be_fitted_is_refused_with_a_remedy(record, options, error, message):
    with pytest.raises(error, match=message):
        prepare(make_record(**record), **options)


def test_a_kernel_in_space_needs_places():
    record = lamina.Record(t=np.arange(5.0), t_sd=0.0, y=np.sin(np.arange(5.0)), y_sd=0.1)
    with pytest.raises(KernelError, match="latitude"):
        prepare(record, kernel=Matern32() * Nearby())


def test_a_field_of_rough_curves_has_no_rate():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        found = lamina.fit(make_record(), kernel=Matern12() * Nearby() + Matern32(), draws=10, warmup=10, max_sweeps=10)
    with pytest.raises(KernelError, match="Matern12"):
        found.rate(AT, site="Cape")
    assert list(found.components(AT, rate=True, site="Cape")["component"].unique()) == ["common"]


def test_a_map_has_the_curves_of_its_places_and_names_of_cf(tmp_path):
    found = posterior(gia=(0.1, 0.2, 0.3))
    found_map = found.field([5.5, 1.0], [36.0, 39.5], [-74.5, -71.0, -60.0])
    assert dict(found_map.sizes) == {"time": 2, "latitude": 2, "longitude": 3}
    curve, rate = found.curve_and_rate([5.5, 1.0], where=(39.5, -71.0))
    at = found_map.sel(latitude=39.5, longitude=-71.0)
    for name, table in ("level", curve), ("rate", rate):
        np.testing.assert_allclose(at[name], table["mean"], rtol=1e-7)
        np.testing.assert_allclose(at[f"{name}_sd"], table["sd"], rtol=1e-6)
    assert found_map["latitude"].attrs["units"] == "degrees_north"
    assert found_map["level_sd"].attrs["long_name"]
    assert "comment" not in found_map["rate"].attrs
    found_map.to_netcdf(tmp_path / "map.nc", engine="h5netcdf")
    far = found.field([5.0], [-40.0], [100.0])
    assert far["extrapolated"].all()
    with pytest.raises(MethodError, match="latitudes"):
        found.field([5.0], [140.0], [35.0])


def test_rates_of_intervals_are_those_of_each_site():
    found = posterior()
    intervals = [(1.0, 3.0), (4.0, 8.0)]
    table = lamina.interval_rates(found, intervals, draws=100)
    assert list(table["site"].unique()) == list(NAMES)
    one = lamina.interval_rates(found, intervals, draws=100, site="Harbor")
    np.testing.assert_allclose(table.query("site == 'Harbor'")["mean"], one["mean"])
    drawn = found.sample_curves([1.0, 3.0], n=100, site="Cape")
    np.testing.assert_allclose(table["mean"][0], (drawn[:, 1] - drawn[:, 0]).mean() / 2.0, atol=0.2)
    assert 0.0 <= found.faster(*intervals, draws=50, site="Cape") <= 1.0
    with pytest.raises(MethodError, match="give a place"):
        found.faster(*intervals)
    with pytest.raises(MethodError, match="give a place"):
        found.first_exceeds(0.5)
    assert len(found.first_exceeds(0.5, draws=20, where=(36.0, -74.0))) == 1


def test_emergence_is_when_rates_leave_their_past():
    """A flat past and a steep end: sites emerge near the turn; a flat curve never does."""
    rng = np.random.default_rng(1)
    t = np.tile(np.arange(0.0, 100.0, 2.0), 2)
    site = np.repeat(["a", "b"], 50)
    y = np.where(site == "a", 0.3 * np.maximum(t - 70.0, 0.0), 0.0) + rng.normal(0.0, 0.05, 100)
    places = {"site": site, "latitude": [30.0, 40.0], "longitude": [-76.0, -40.0], "sequence": [None] * 100}
    record = lamina.Record(t, 0.0, y, 0.05, **places)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lamina.NotConverged)
        found = lamina.fit(record, kernel=Matern32() * EachSite(), draws=40, warmup=100, max_sweeps=20, chains=2)
    table = found.emergence((0.0, 60.0), window=6.0, draws=60).set_index("site")
    assert 66.0 < table.loc["a", "emergence"] < 78.0
    assert table.loc["a", "p_last"] > 0.99
    assert not table.loc["b", "p_last"] > 0.99
    with pytest.raises(MethodError, match="shorter"):
        found.emergence((0.0, 3.0), window=6.0)


def test_the_common_curve_has_a_time_of_emergence():
    found = posterior()
    (name,) = found.emergence((0.0, 5.0), window=2.0, draws=40, common=True)["site"]
    assert name == "common"
    with pytest.raises(MethodError, match="without site and where"):
        found.emergence((0.0, 5.0), window=2.0, common=True, site="Cape")


def test_a_site_is_known_by_its_place_too():
    """Also what data say of its own offset, and of the error of its GIA, which no other place shares."""
    found = posterior(gia=0.1, gia_sd=0.05)
    for place in (38.0, -74.0), (38.0, 286.0):
        assert found.curve(AT, where=place).equals(found.curve(AT, site="Harbor"))
    assert list(lamina.interval_rates(found, [(1.0, 5.0)], draws=10, where=(38.0, -74.0))["site"]) == ["Harbor"]


def test_the_trends_that_cannot_be_told_apart_are_reported():
    found = posterior()
    assert -1.0 <= found.diagnostics["trend_correlation"] < 0.0
    assert "mean rate of the sites" in explain_trends(found)
    periods = ((0.0, 3.0), (7.0, 10.0))
    table = found.common(np.concatenate([np.linspace(a, b, 21) for a, b in periods]), equal_means=periods)
    np.testing.assert_allclose(table["mean"][:21].mean(), table["mean"][21:].mean(), atol=1e-9)
    rate = found.common([5.0], rate=True, equal_means=periods)
    assert np.isfinite(rate["mean"][0])

"""Posteriors on disk come back as they were, and files are written atomically."""

import json
from dataclasses import replace

import fits
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import lamina
from lamina.posterior import storage
from lamina.posterior.posterior import Posterior

AT = np.array([-3.0, 2.0, 6.5])
each_method = pytest.mark.parametrize("method", [*fits.METHODS, "ensemble"])


def again(found: Posterior, path) -> Posterior:
    found.save(path)
    return lamina.load(path)


def check_same(one: Posterior, other: Posterior) -> None:
    pd.testing.assert_frame_equal(one.curve(AT), other.curve(AT))
    pd.testing.assert_frame_equal(one.rate(AT), other.rate(AT))
    pd.testing.assert_frame_equal(one.inputs(), other.inputs())
    pd.testing.assert_frame_equal(one.theta, other.theta)
    np.testing.assert_array_equal(one.sample_curves(AT, 7), other.sample_curves(AT, 7))
    assert one.record == other.record
    assert one.problem.kernel == other.problem.kernel
    assert one.draws.chains == other.draws.chains
    check_same_facts(one.diagnostics, other.diagnostics)
    assert one.summary() == other.summary()


def check_same_facts(one: dict, other: dict) -> None:
    assert one.keys() == other.keys()
    for key, value in one.items():
        assert isinstance(value, type(other[key])), key
        np.testing.assert_equal(other[key], value)


@each_method
def test_every_method_comes_back_as_it_was(method, tmp_path):
    found = fits.posterior(method)
    check_same(found, again(found, tmp_path / "fit.nc"))


def test_the_extra_variance_of_nigp_comes_back(tmp_path):
    found = fits.posterior("nigp")
    np.testing.assert_array_equal(again(found, tmp_path / "fit.nc").draws.extra_var, found.draws.extra_var)
    assert again(fits.posterior("gp"), tmp_path / "fit.nc").draws.extra_var is None


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (lamina.SquaredExponential() + lamina.Periodic(), {"mean": "linear"}),
        (lamina.Matern32() * lamina.Periodic() + lamina.Constant(sd=3.0, mean=1.0) + lamina.Linear(origin=2.0), {}),
        (lamina.RationalQuadratic(), {"mean": "zero", "fixed": {"shape": 2.0}, "priors": {"length": (3.0, 2.0)}}),
    ],
    ids=["sum and linear", "product and trend terms", "zero mean, fixed and priors"],
)
def test_kernels_trends_and_priors_come_back(kernel, options, tmp_path):
    found = fits.quietly(fits.record(order="decreasing", true=fits.TRUE[::-1]), "gp", kernel, starts=1, **options)
    loaded = again(found, tmp_path / "fit.nc")
    check_same(found, loaded)
    for name in "free", "start", "prior_mean", "prior_sd":
        np.testing.assert_array_equal(getattr(loaded.problem, name), getattr(found.problem, name))


@pytest.mark.slow
def test_memory_comes_back(tmp_path):
    found = fits.quietly(fits.record(), memory=True, **fits.OPTIONS["mcmc"])
    loaded = again(found, tmp_path / "fit.nc")
    check_same(found, loaded)
    assert loaded.problem.model.memory
    assert list(loaded.theta) == ["length", "sd", "memory", "alpha"]


def test_labels_sequences_names_and_units_come_back(tmp_path):
    record = fits.record(
        sequence=["a", 2, "a", None, 2, "a", 2, "a", None, 2],
        label=["ÅÄ 1", None, 3, 4.5, *"efghij"],
        t_name="Age",
        t_unit="yr BP",
        y_name="δ18O",
        y_unit="‰",
    )
    found = Posterior(replace(fits.posterior("gp").problem, source=record, record=record), fits.posterior("gp").draws)
    assert again(found, tmp_path / "fit.nc").record == record


def test_labels_of_other_kinds_come_back_as_text(tmp_path):
    record = fits.record(label=[("core", k) for k in range(10)])
    found = Posterior(replace(fits.posterior("gp").problem, source=record, record=record), fits.posterior("gp").draws)
    assert again(found, tmp_path / "fit.nc").record.label[1] == "('core', 1)"


def test_long_labels_find_room(tmp_path):
    record = fits.record(label=["x" * 20_000] * 10)
    found = Posterior(replace(fits.posterior("gp").problem, source=record, record=record), fits.posterior("gp").draws)
    assert again(found, tmp_path / "fit.nc").record == record


def test_a_loaded_posterior_can_be_saved_again(tmp_path):
    once = again(fits.posterior("mcmc"), tmp_path / "one.nc")
    check_same(once, again(once, str(tmp_path / "two.nc")))


def test_the_file_is_plain_netcdf(tmp_path):
    found = fits.posterior("mcmc")
    found.save(tmp_path / "fit.nc")
    with xr.open_dataset(tmp_path / "fit.nc", engine="h5netcdf") as data:
        assert data["tau"].dims == ("draw", "row")
        np.testing.assert_array_equal(data["y"], found.record.y)
        assert data.attrs["format"] == storage.FORMAT
        assert all(variable.dtype != object or name == "facts" for name, variable in data.variables.items())


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "fit.nc"
    fits.posterior("gp").save(path)
    before = path.read_bytes()

    def fail_half_way(self, target, **options):
        target.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(xr.Dataset, "to_netcdf", fail_half_way)
    with pytest.raises(lamina.StorageError, match="No space left on device"):
        fits.posterior("nigp").save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["fit.nc"]


def test_places_that_cannot_be_written_are_named(tmp_path):
    with pytest.raises(lamina.StorageError, match="there is no folder"):
        fits.posterior("gp").save(tmp_path / "nowhere" / "fit.nc")
    with pytest.raises(lamina.StorageError, match=r"cannot write .*directory"):
        fits.posterior("gp").save(tmp_path)


def test_files_that_are_no_posterior_are_refused(tmp_path):
    with pytest.raises(lamina.StorageError, match="there is no file"):
        lamina.load(tmp_path / "missing.nc")
    (tmp_path / "text.nc").write_text("age,sd\n1,2\n")
    with pytest.raises(lamina.StorageError, match="not a NetCDF file"):
        lamina.load(tmp_path / "text.nc")
    (tmp_path / "empty.nc").touch()
    with pytest.raises(lamina.StorageError, match="not a NetCDF file"):
        lamina.load(tmp_path / "empty.nc")
    xr.Dataset({"x": ("x", [1.0])}).to_netcdf(tmp_path / "foreign.nc", engine="h5netcdf")
    with pytest.raises(lamina.StorageError, match="not written by this version of lamina"):
        lamina.load(tmp_path / "foreign.nc")
    write_sealed(tmp_path / "damaged.nc", xr.Dataset({"x": ("x", [1.0])}))
    with pytest.raises(lamina.StorageError, match="is damaged"):
        lamina.load(tmp_path / "damaged.nc")


def write_sealed(path, dataset):
    """Write a file with the checksum of its bytes, as only lamina or an enemy does."""
    dataset.to_netcdf(path, engine="h5netcdf")
    with path.open("r+b") as file:
        file.write(storage._seal(file, path.stat().st_size))


@pytest.fixture
def whole(tmp_path):
    """The bytes of a posterior, and a function that says how ``load`` refuses others."""
    fits.posterior("gp").save(tmp_path / "fit.nc")

    def refusal(data: bytes) -> str:
        (tmp_path / "other.nc").write_bytes(data)
        with pytest.raises(lamina.StorageError) as caught:
            lamina.load(tmp_path / "other.nc")
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return (tmp_path / "fit.nc").read_bytes(), refusal


def test_a_file_that_is_cut_short_or_has_one_other_byte_never_reaches_hdf5(whole, monkeypatch):
    data, refusal = whole
    monkeypatch.setattr(storage, "_contents", lambda path: pytest.fail("HDF5 was asked"))
    for size in 1, len(data) // 2, len(data) - 200, len(data) - 1:
        assert "cut short" in refusal(data[:size]) or "not a NetCDF file" in refusal(data[:size])
    assert "cut short" in refusal(data + b" ")
    for place in range(8, len(data) - 120, len(data) // 50):
        changed = bytearray(data)
        changed[place] ^= 1
        assert "its bytes are not those that were written" in refusal(bytes(changed))


def changed_array(name, change):
    """A change of one variable."""
    return lambda found: found.update({name: change(found[name])})


def without_diagnostics(facts):
    """The facts of a file, whose diagnostics are empty."""
    return np.bytes_(json.dumps(json.loads(facts.tobytes()) | {"diagnostics": {}}).encode())


CHANGES = {
    "columns of tau missing": changed_array("tau", lambda tau: tau[:, :5]),
    "draws of phi missing": changed_array("phi", lambda phi: phi[:-1]),
    "one dimension too many": changed_array("weight", lambda weight: weight[None]),
    "one dimension too few": changed_array("tau", lambda tau: tau[0]),
    "a number for all": changed_array("y", lambda y: y[0]),
    "whole numbers": changed_array("phi", lambda phi: phi.astype(int)),
    "half the precision": changed_array("weight", lambda weight: weight.astype("f2")),
    "text": changed_array("tau", lambda tau: tau.astype("S8")),
    "no draws": lambda found: found.update({name: found[name][:0] for name in ("tau", "phi", "weight")}),
    "rows missing": lambda found: found.update({name: found[name][:3] for name in ("t", "t_sd", "y", "y_sd")}),
    "not a number": changed_array("tau", lambda tau: np.where(tau == tau[0, 0], np.nan, tau)),
    "infinite": changed_array("phi", lambda phi: np.full_like(phi, np.inf)),
    "a parameter that no number holds": changed_array("phi", lambda phi: np.full_like(phi, 800.0)),
    "weights above one": changed_array("weight", lambda weight: weight + 1.0),
    "negative weights": changed_array("weight", lambda weight: -weight),
    "a negative standard deviation": changed_array("y_sd", lambda sd: -sd),
    "a variable missing": lambda found: found.pop("tau"),
    "no facts": lambda found: found.pop("facts"),
    "no diagnostics": lambda found: found.update(facts=without_diagnostics(found["facts"])),
    "facts that are none": lambda found: found.update(facts=np.bytes_(b"{")),
    "facts of another kind": lambda found: found.update(facts=np.bytes_(b"[]")),
    "facts as numbers": lambda found: found.update(facts=np.arange(3.0)),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_shapes_types_and_ranges_are_checked_whoever_has_written_the_file(change, tmp_path):
    posterior = fits.posterior("mcmc")
    posterior.save(tmp_path / "fit.nc")
    arrays, text = storage._contents(tmp_path / "fit.nc")
    found = arrays | {"facts": np.bytes_(text.encode())}
    change(found)
    data = {name: ([f"{name}_{k}" for k in range(np.ndim(one))], one) for name, one in found.items()}
    write_sealed(tmp_path / "other.nc", xr.Dataset(data))
    with pytest.raises(lamina.StorageError, match=r"other\.nc is damaged: .*\. Take another copy"):
        lamina.load(tmp_path / "other.nc")


@pytest.mark.parametrize("kind", ["text of any length", "link to another file", "numbers of another file"])
def test_what_hdf5_does_not_read_safely_is_not_read(kind, tmp_path):
    h5py = pytest.importorskip("h5py")
    fits.posterior("gp").save(tmp_path / "fit.nc")
    path = tmp_path / "other.nc"
    with h5py.File(tmp_path / "fit.nc", "r") as old, h5py.File(path, "w") as new:
        for name in old:
            if name not in ("facts", "y"):
                old.copy(name, new)
        if kind == "text of any length":
            new["facts"] = old["facts"][()].tobytes().decode()
            new["y"] = old["y"][()]
        elif kind == "link to another file":
            new["facts"], new["y"] = old["facts"][()], h5py.ExternalLink("fit.nc", "y")
        else:
            new["facts"] = old["facts"][()]
            new.create_dataset("y", (10,), "f8", external=[(str(tmp_path / "fit.nc"), 0, 80)])
    with path.open("r+b") as file:
        file.write(storage._seal(file, path.stat().st_size))
    with pytest.raises(lamina.StorageError, match="is damaged"):
        lamina.load(path)


@pytest.mark.slow
def test_everything_a_real_core_holds_comes_back(tmp_path):
    from lamina.dates import SplitNormal, Tabulated, Uniform

    n = len(fits.TRUE)
    kinds = [SplitNormal(0.3, 0.1, 0.4), Uniform(0.8, 1.5), None, Tabulated([2.0, 3.0, 4.0], [0.1, 1.0, 0.2])]
    record = fits.record(
        y_sd=np.where(np.arange(n) == 5, np.inf, 0.1),
        dates=kinds + [None] * (n - 4),
        depth=[0.0, 1.0, 2.0, 2.5, 4.0, 5.0, 5.0, 6.0, 6.0, 9.0],
        tie=[None] * 5 + ["x", "x"] + [None] * 3,
        hiatus=np.arange(n) == 2,
        least_gap=0.01 * np.arange(n),
        limit=[None, "above", None, "below", *[None] * 6],
    )
    found = fits.quietly(record, outliers="mixture", draws=40, warmup=50, max_sweeps=50)
    loaded = again(found, tmp_path / "fit.nc")
    check_same(found, loaded)
    pd.testing.assert_series_equal(found.outliers(), loaded.outliers())
    pd.testing.assert_frame_equal(found.ages([0.5, 7.0]), loaded.ages([0.5, 7.0]))
    np.testing.assert_array_equal(found.tau[:, 5], found.tau[:, 6])

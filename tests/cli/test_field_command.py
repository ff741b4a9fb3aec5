"""lamina field: from a table with places to its files, and one clear message for each thing that is wrong."""

import json

import numpy as np
import pandas as pd
import pytest
import xarray
from commands import lamina

from lamina.app import history

SITES = {"North": (44.0, -70.0), "Middle": (40.0, -74.0), "South <b>": (36.0, -76.0)}


def table_text(**where):
    """Three cores of five rows each, and a gauge; ``where`` moves sites."""
    lines = ["site,latitude,longitude,depth_cm,year_ce,year_sd,rsl_m,rsl_sd_m"]
    rng = np.random.default_rng(3)
    for k, (name, place) in enumerate(SITES.items()):
        lat, lon = where.get(name, place)
        for j, year in enumerate(range(1950, 950, -200)):
            level = 0.0012 * (year - 2000) + 0.03 * np.sin(year / 150.0 + k)
            moved = year + rng.normal(0.0, 20.0)
            lines.append(f"{name},{lat},{lon},{20 * j + 1},{moved:.0f},20,{level + rng.normal(0.0, 0.03):.3f},0.03")
    lat, lon = where.get("Gauge", (41.0, -72.0))
    lines += [f"Gauge,{lat},{lon},,{year},0,{0.0025 * (year - 2000):.3f},0.01" for year in (1950, 1970, 1990)]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run that is much too short to converge, but writes everything."""
    folder = tmp_path_factory.mktemp("field")
    table, gia, out = folder / "coast.csv", folder / "gia.csv", folder / "out"
    table.write_text(table_text())
    gia.write_text("site,rate_mm_yr\n" + "".join(f"{name},1.2\n" for name in (*SITES, "Gauge")))
    done = lamina(
        "field", table, "--gia", gia, "--out", out, "--interval", "1000:1800", "--interval", "1900:1990",
        "--at", "1000:2000:100", "--show-site", "Middle", "--map-at", "1500,1950", "--grid", "20:50:-80:-20",
        "--chains", "2", "--max-sweeps", "5", "--draws", "100",
    )  # fmt: skip
    assert done.exit_code == 3, done.output  # not converged
    return out, done


def test_every_table_has_its_sites_and_columns_are_explained(run):
    out, _ = run
    names = [*SITES, "Gauge"]
    explained = (out / "columns.txt").read_text()
    for file in "curve.csv", "rate.csv", "components.csv", "rates.csv", "sites.csv", "inputs.csv":
        frame = pd.read_csv(out / file)
        assert set(frame["site"]) == set(names), file
        assert file in explained
    curve = pd.read_csv(out / "curve.csv")
    assert curve[curve["site"] == "North"]["at"].tolist() == list(range(1000, 2100, 100))
    gauge = curve[curve["site"] == "Gauge"]
    assert (gauge["extrapolated"] == "yes").all()  # its rows are from 1950 to 1990
    common = pd.read_csv(out / "common.csv")
    assert set(common["quantity"]) == {"curve", "rate"}
    sites = pd.read_csv(out / "sites.csv").set_index("site")
    assert sites.loc["Gauge", "exact"] == 3
    assert sites["gia"].tolist() == pytest.approx([0.0012] * 4)


def test_parts_of_a_site_add_up_to_its_curve(run):
    out, _ = run
    parts, curve = (pd.read_csv(out / f"{name}.csv") for name in ("components", "curve"))
    total = parts.groupby(["site", "at"])["mean"].sum()
    found = curve.set_index(["site", "at"])["mean"]
    np.testing.assert_allclose(total.reindex(found.index), found, atol=1e-6)


def test_the_app_shows_each_site_under_its_name_and_knows_the_line_of_each_row(run):
    out, _ = run
    shown = [one for one in history.figures(out)["figures"] if one["id"].startswith("figure-site-")]
    inputs = pd.read_csv(out / "inputs.csv")
    lines = {
        one["heading"]: sorted(line for trace in one["data"] for _, line in trace.get("customdata", []))
        for one in shown
    }
    assert lines == {name: sorted(inputs["line"][inputs["site"] == name]) for name in (*SITES, "Gauge")}


def test_rates_have_probabilities_for_each_interval(run):
    out, _ = run
    rates = pd.read_csv(out / "rates.csv")
    assert len(rates) == 4 * 2
    assert rates["p>0"].between(0.0, 1.0).all()
    assert rates[rates["from"] == 1000.0]["p>1900:1990"].between(0.0, 1.0).all()


def test_maps_are_cf_and_mark_places_beyond_the_data(run):
    out, _ = run
    with xarray.open_dataset(out / "field.nc", decode_times=False) as maps:
        assert maps["time"].to_numpy().tolist() == [1500.0, 1950.0]
        assert maps["latitude"].attrs["units"] == "degrees_north"
        for name in "level", "level_sd", "rate", "rate_sd":
            assert np.isfinite(maps[name]).all()
        assert set(np.unique(maps["extrapolated"])) == {0, 1}  # the middle of the Atlantic is far from every site
        assert maps["extrapolated"].sel(latitude=40.0, longitude=-75.0, method="nearest") == 0
    page = (out / "report.html").read_text()
    assert "Crosses mark places beyond the data" in page


def test_report_and_run_say_how_places_were_read(run):
    out, done = run
    page = (out / "report.html").read_text()
    assert "<b>" not in page.partition("<body>")[2].partition("<script")[0].replace("&lt;b&gt;", "")
    for words in ("Kopp, R. E.", "Natural Earth", "great-circle distance", "What the data cannot distinguish"):
        assert words in page
    found = json.loads((out / "run.json").read_text())
    assert found["kind"] == "field"
    assert found["diagnostics"]["identifiability"]
    assert any(fact[0] == "longitude" for fact in found["understood"])
    assert len(found["intervals"]) == 8
    for name in "map", "common", "sites", "components":
        for ending in "png", "pdf", "svg":
            assert (out / f"{name}.{ending}").stat().st_size > 1000
    assert "mean rate of 4 sites, 1900 to 1990" in done.stdout


def refused(tmp_path, text, *options):
    """The message of a run that must not write anything."""
    table = tmp_path / "coast.csv"
    table.write_text(text)
    done = lamina("field", table, "--out", tmp_path / "out", *options)
    assert done.exit_code == 2, done.output
    assert not (tmp_path / "out").exists()
    assert done.stderr.count("lamina: ") == 1
    return " ".join(done.stderr.split())


def test_each_thing_that_is_wrong_has_its_message(tmp_path):
    text = table_text()
    header, *rows = text.splitlines()
    cases = {
        "no column of longitude": text.replace("longitude", "other"),
        "no column names the sites": text.replace("site,", "other,"),
        'no latitude for "Gauge"': text.replace("Gauge,41.0", "Gauge,"),
        "Are latitude and longitude swapped?": table_text(North=(-170.0, 44.0)),
        "at the same point": table_text(North=(40.0, -74.0)),
        "all rows are from one site": "\n".join([header, *(row for row in rows if row.startswith("North"))]) + "\n",
        "is at two places": text.replace("44.0,-70.0,21", "45.0,-70.0,21"),
    }
    for words, content in cases.items():
        assert words in refused(tmp_path, content), words


def test_a_table_of_rates_that_misses_sites_lists_them(tmp_path):
    (tmp_path / "gia.csv").write_text("site,gia\nNorth,1.1\nGauge,1.2\n")
    found = refused(tmp_path, table_text(), "--gia", tmp_path / "gia.csv")
    assert '2 of 4 sites: "Middle", "South <b>"' in found


def test_other_options_have_their_messages(tmp_path):
    text = table_text()
    assert "Did you mean 'Middle'?" in refused(tmp_path, text, "--show-site", "Midle")
    assert "is no region" in refused(tmp_path, text, "--grid", "44:36:-77:-69")
    assert "is not south:north:west:east" in refused(tmp_path, text, "--grid", "44:36")
    assert "has no places" in refused(tmp_path, text, "--method", "npv")


def test_fit_asks_what_to_do_with_several_sites(tmp_path):
    table = tmp_path / "coast.csv"
    table.write_text(table_text())
    done = lamina("fit", table, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "lamina field" in done.stderr
    checked = lamina("check", table)
    assert "lamina field" in checked.stderr
    assert "degrees east, negative to the west" in checked.stdout


def test_the_posterior_is_saved_before_the_answers_are_computed(tmp_path, monkeypatch):
    table, out, saved = tmp_path / "coast.csv", tmp_path / "out", []
    table.write_text(table_text())

    def interrupted(*_):
        saved.append((out / "posterior.nc").exists())
        raise KeyboardInterrupt

    monkeypatch.setattr("lamina.output.fields.compute", interrupted)
    done = lamina("field", table, "--out", out, "--chains", "2", "--max-sweeps", "2", "--draws", "100", "--quiet")
    assert (done.exit_code, saved) == (130, [True])
    assert f"The posterior is in {out / 'posterior.nc'}" in done.stderr


def test_a_site_without_any_value_has_its_curve(tmp_path):
    table, out = tmp_path / "coast.csv", tmp_path / "out"
    table.write_text(table_text() + "Dates,42.0,-71.0,5,1900,20,,\nDates,42.0,-71.0,30,1500,20,,\n")
    done = lamina(
        "field", table, "--out", out, "--chains", "2", "--max-sweeps", "2", "--draws", "100", "--quiet", "--incomplete"
    )
    assert done.exit_code == 3, done.output
    assert not [one for one in json.loads((out / "run.json").read_text())["warnings"] if "cannot draw" in one]
    assert "Dates" in (out / "report.html").read_text()

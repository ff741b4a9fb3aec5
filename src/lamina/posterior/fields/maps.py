"""Maps of a field as an xarray.Dataset, with the names and units of the CF conventions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...errors import MethodError
from ...field.prediction import maps
from ...methods.draws import evenly
from ...records.axes import describe
from ...support.checks import argument
from . import chosen, outside, problem_of

if TYPE_CHECKING:
    import xarray as xr

    from ..posterior import Posterior

Array = np.ndarray

#: Maps are averaged over at most so many draws, evenly spaced.
MOST_DRAWS = 100
#: The smoother keeps covariances of at most so many bytes at once, of some of the times.
MOST_BYTES = 2e8
#: Which way rates run where t is an age.
PER_AGE = "Ages count backwards: a rise towards the present is negative."
FORWARD = "Forward in time, although ages count backwards: a rise towards the present is positive."


def field(posterior: Posterior, at: ArrayLike, latitude: ArrayLike, longitude: ArrayLike) -> xr.Dataset:
    """Mean and standard deviation of level and rate at times at (M,) on a grid of latitudes and longitudes."""
    import xarray as xr

    times, lat, lon = argument("at", at), argument("latitude", latitude), argument("longitude", longitude)
    if (np.abs(lat) > 90.0).any() or (lon < -180.0).any() or (lon > 360.0).any():
        raise MethodError("latitudes lie between -90 and 90, longitudes between -180 and 180 or 0 and 360, in degrees.")
    problem_of(posterior)
    everywhere = [one.ravel() for one in np.meshgrid(lat, lon, indexing="ij")]
    mean, sd = _averaged(posterior, times, *everywhere)
    record, shape = posterior.record, (len(times), len(lat), len(lon))
    axes, dims = describe(record), ("time", "latitude", "longitude")
    per = axes.duration.removesuffix("s") or "1"
    rate_unit, name = f"{record.y_unit or '1'} {per}-1", record.y_name
    data = {
        "level": (mean[0], f"{name}, posterior mean", record.y_unit or "1"),
        "level_sd": (sd[0], f"{name}, posterior standard deviation", record.y_unit or "1"),
        "rate": (mean[1], f"rate of {name} per unit of t, posterior mean", rate_unit),
        "rate_sd": (sd[1], f"rate of {name}, posterior standard deviation", rate_unit),
    }
    found = xr.Dataset(
        {
            key: (dims, values.reshape(shape), {"long_name": words, "units": unit})
            for key, (values, words, unit) in data.items()
        },
        coords={
            "time": ("time", times, {"long_name": record.t_name, "units": record.t_unit or "1", "axis": "T"}),
            "latitude": (
                "latitude",
                lat,
                {"standard_name": "latitude", "long_name": "latitude", "units": "degrees_north", "axis": "Y"},
            ),
            "longitude": (
                "longitude",
                lon,
                {"standard_name": "longitude", "long_name": "longitude", "units": "degrees_east", "axis": "X"},
            ),
        },
        attrs={"Conventions": "CF-1.11", "title": f"{name}: posterior of a field", "source": "lamina"},
    )
    if axes.backwards:
        found["rate"].attrs["comment"] = PER_AGE
    far = outside(posterior, *everywhere).reshape(shape[1:]).astype(np.int8)
    words = "1 where the place is farther from every site than the field is correlated"
    found["extrapolated"] = (dims[1:], far, {"long_name": words, "units": "1"})
    return found


def forward(posterior: Posterior, found: xr.Dataset) -> xr.Dataset:
    """Maps of ``field`` with rates forward in time, as in the tables that commands write."""
    if not describe(posterior.record).backwards:
        return found
    words = f"rate of {posterior.record.y_name} forward in time, posterior mean"
    rate = (-found["rate"]).assign_attrs(found["rate"].attrs | {"long_name": words, "comment": FORWARD})
    return found.assign(rate=rate)


def _averaged(posterior: Posterior, times: Array, latitude: Array, longitude: Array) -> tuple[Array, Array]:
    """Mean and sd of level and rate over the draws, (2, M, T) each."""
    thin, problem, place = posterior.thinned(), problem_of(posterior), posterior.problem
    draws = thin.taken(evenly(len(thin.tau), MOST_DRAWS))
    internal = place.to_internal(times)
    order = np.argsort(internal, kind="stable")
    size = 8.0 * 4.0 * float(problem.field.layout.size.sum()) ** 2
    step = max(int(MOST_BYTES / size), 1)
    total = np.zeros((2, 2, len(times), len(latitude)))  # first and second moments
    for first in range(0, len(order), step):
        some = order[first : first + step]
        for weight, one in zip(
            draws.weight, maps(problem, chosen(draws), internal[some], latitude, longitude), strict=True
        ):
            total[0][:, some] += weight * one[::2]
            total[1][:, some] += weight * (one[1::2] + one[::2] ** 2)
    sd = np.sqrt(np.maximum(total[1] - total[0] ** 2, 0.0))
    total[0, 1] = place.rate_to_user(total[0, 1])
    return total[0], sd

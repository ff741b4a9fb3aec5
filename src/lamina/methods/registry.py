"""All methods by name, and the one that is used by default."""

from __future__ import annotations

from . import Method, ensemble, gp, mcmc, nigp, npv, nuts

METHODS: dict[str, Method] = {
    method.name: method for method in (gp.METHOD, nigp.METHOD, npv.METHOD, mcmc.METHOD, nuts.METHOD, ensemble.METHOD)
}
DEFAULT = mcmc.METHOD.name

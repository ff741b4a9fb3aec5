"""Progress on a terminal."""

from lamina.cli import progress
from lamina.support import convergence


def test_the_bar_is_full_when_the_sampler_has_what_it_wants():
    assert progress.ESS == convergence.ESS

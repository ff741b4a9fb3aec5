"""Progress on a terminal."""

from lamina.cli import progress
from lamina.methods import runner as crew


def test_the_bar_is_full_when_the_sampler_has_what_it_wants():
    assert progress.ESS == crew.ESS

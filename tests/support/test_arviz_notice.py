"""The notice that ArviZ gives when it is imported for the first time in a day."""

import os
import subprocess
import sys
import warnings

import pytest

from lamina.support.arviz_notice import no_refactor_notice


def said(code: str, folder) -> str:
    """What a new Python, on a day on which ArviZ has not been imported yet, says on standard error."""
    home = {"XDG_CACHE_HOME": str(folder), "HOME": str(folder), "LOCALAPPDATA": str(folder)}
    done = subprocess.run(
        [sys.executable, "-W", "default", "-c", code], env=os.environ | home, capture_output=True, text=True, check=True
    )
    return done.stderr


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("lamina.fit(record, 'nuts', draws=80, warmup=50, chains=2)", id="nuts", marks=pytest.mark.slow),
        pytest.param("lamina.fit(record, 'gp').to_arviz()", id="to_arviz"),
    ],
)
def test_users_do_not_see_it(call, tmp_path):
    pytest.importorskip("nutpie")
    code = f"import lamina\nrecord = lamina.Record(t=[1, 2, 3, 4], t_sd=0.1, y=[1, 2, 1, 2], y_sd=0.5)\n{call}"
    assert "undergoing a major refactor" not in said(code, tmp_path)


def test_other_warnings_are_given():
    with no_refactor_notice():
        with pytest.warns(FutureWarning, match="something else"):
            warnings.warn("something else", FutureWarning, stacklevel=1)
        with pytest.warns(UserWarning, match="ArviZ is undergoing"):
            warnings.warn("ArviZ is undergoing a major refactor", UserWarning, stacklevel=1)

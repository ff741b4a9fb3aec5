"""Without a browser its tests are skipped, unless one is required."""

import browser
import pytest


@pytest.mark.parametrize(("required", "outcome"), [("0", pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_a_missing_browser_is_an_error_only_where_one_is_required(monkeypatch, required, outcome):
    monkeypatch.setattr(browser.shutil, "which", lambda name: None)
    monkeypatch.setenv(browser.REQUIRED, required)
    with pytest.raises(outcome, match="no Chromium on PATH"):
        browser.find()

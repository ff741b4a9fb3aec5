"""Forms and commands are the same thing."""

import shlex

import pytest

from lamina.app.commands import CommandError, of_run, worded
from lamina.app.explanations import CHOICES, LABELS, MAIN
from lamina.cli.app import described
from lamina.output.settings import kernel_by_name
from lamina.support.curves import curve_name
from lamina.tables.options import OF_FIELDS, Options

COMMANDS = described()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("fit", {}),
        ("fit", {"t_sigma": "2", "pool": True, "interval": ["1900:2000", "0:100"], "kernel": "matern52+matern12"}),
        ("fit", {"at": "-100:200:10", "trend": ["0.0012", "0.0002"], "y": "value; rm -rf /", "site": "it's"}),
        ("fit", {"leave_out": ["3", "7"], "ignore_date": ["4"], "missing": ["-999"]}),
        ("field", {"gia": "gia.csv", "latitude": "lat", "shown_site": "Nassau"}),
        ("agedepth", {"memory": "off", "acc_mean": "20,2", "depths": "0:100:5", "hiatus": ["30.5"]}),
    ],
)
def test_a_form_becomes_a_command_and_the_command_the_form(name, values):
    command = COMMANDS[name]
    words = command.arguments("core.csv", values)
    assert command.parse(shlex.split(worded(words))[2:]) == ("core.csv", values)
    run = {"command": f"{worded(words)} --out 'some where' --force"}
    assert of_run(run, COMMANDS) == (command, "core.csv", values)


def test_defaults_are_not_written():
    assert COMMANDS["fit"].arguments("a.csv", {"method": "mcmc", "pool": False, "t": "", "seed": 0}) == ["fit", "a.csv"]


@pytest.mark.parametrize("trend", ["0.001", ["1", "2", "3"], ["1", " "]])
def test_a_pair_has_two_values(trend):
    with pytest.raises(CommandError, match="--trend takes two values"):
        COMMANDS["fit"].chosen({"trend": trend})


def test_of_a_pair_that_is_given_twice_the_last_counts():
    assert COMMANDS["fit"].parse(["a.csv", "--trend", "1", "2", "--trend", "3", "4"])[1] == {"trend": ["3", "4"]}


def test_choices_are_those_of_the_command_in_any_case():
    option = next(one for one in COMMANDS["fit"].options if one.kind == "choice" and len(one.choices) > 1)
    last = option.choices[-1]
    assert COMMANDS["fit"].arguments("a.csv", {option.name: last.swapcase()}) == ["fit", "a.csv", option.flag, last]
    with pytest.raises(CommandError, match=f"{option.flag} takes one of"):
        COMMANDS["fit"].chosen({option.name: "nobody"})


def test_a_table_whose_name_looks_like_an_option_is_a_table():
    assert COMMANDS["fit"].arguments("--force", {}) == ["fit", "./--force"]


@pytest.mark.parametrize("command", ["", "rm -rf /", "lamina", "lamina batch a.csv", "lamina fit 'a", "lamina fit a b"])
def test_commands_that_the_app_does_not_run_are_refused(command):
    with pytest.raises(CommandError):
        of_run({"command": command}, COMMANDS)


def test_every_option_of_reading_is_offered():
    fields = set(Options.__dataclass_fields__) - {"places", *OF_FIELDS}
    assert set(COMMANDS["fit"].reading) == fields
    assert set(COMMANDS["field"].reading) == fields - {"site", "pool"} | set(OF_FIELDS)
    assert set(COMMANDS["agedepth"].reading) == {name for name in fields if not name.startswith(("y", "dates"))}
    assert all(option.flags and option.help for command in COMMANDS.values() for option in command.options)


def test_what_is_explained_exists():
    known = {option.name: option for command in COMMANDS.values() for option in command.options}
    assert set(LABELS) <= set(known)
    for name, command in COMMANDS.items():
        assert set(MAIN[name]) <= {option.name for option in command.options}
    for name, words in CHOICES.items():
        if name == "kernel":
            assert all(kernel_by_name(one) for one in words)
        elif name == "curve":
            assert [curve_name(one) for one in words] == list(words)
        else:
            assert set(words) == set(known[name].choices)

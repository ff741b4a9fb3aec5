"""Checkpoints bring chains back to where they were, and are checked before compiled code sees them."""

import numpy as np
import pytest

import lamina
from lamina.methods.chains import DrawBudget, restore_checkpoint, take_checkpoint
from lamina.methods.mcmc import MarkovChain
from lamina.model.model import Model
from lamina.model.problem import build_problem
from lamina.support.checks import digest


def chain(seed=0) -> MarkovChain:
    t, rng = np.arange(12.0), np.random.default_rng(seed)
    record = lamina.Record(t=t, t_sd=0.3, y=np.sin(t), y_sd=0.1, sequence=["a", "b"] * 6)
    made = MarkovChain(build_problem(record, Model(lamina.Matern32())), np.random.SeedSequence(seed), DrawBudget(8, 4))
    made.add(rng.standard_normal((5, 12)), rng.standard_normal((5, len(made.problem.start))))
    return made


def test_a_checkpoint_brings_a_chain_back():
    one, other = chain(1), chain(2)
    assert restore_checkpoint(take_checkpoint([one], 4, 30), [other]) == (4, 30)
    assert one.rng.bit_generator.state == other.rng.bit_generator.state
    for mine, its in (one.snapshot(), other.snapshot()), (one.complete, other.complete):
        for name, values in mine.items():
            np.testing.assert_array_equal(its[name], values)


def put(name, value, place=0):
    """A change of one number."""

    def change(arrays):
        arrays[name] = arrays[name].copy()
        arrays[name].reshape(-1)[place] = value

    return change


CHANGES = {
    "order out of range": put("0 order", 99),
    "order below zero": put("0 order", -1),
    "order with a row twice": put("0 order", 5),
    "order of other inputs": put("0 tau", 1e3),
    "before out of range": put("0 before", 99),
    "after out of range": put("0 after", 12),
    "before of another sequence": put("0 before", 1, 2),
    "draws without numbers": put("0 draws tau", np.nan),
    "no number": put("0 phi", np.inf),
    "a step that is none": put("0 steps", np.nan),
    "too few columns": lambda arrays: arrays.update({"0 draws tau": arrays["0 draws tau"][:, :5]}),
    "too many draws": lambda arrays: arrays.update({"0 draws phi": np.tile(arrays["0 draws phi"], (9, 1))}),
    "another type": lambda arrays: arrays.update({"0 order": arrays["0 order"].astype(float)}),
    "one number for all": lambda arrays: arrays.update({"0 tau": np.array(1.0)}),
    "no thinning": lambda arrays: arrays.update({"thin": np.array(0)}),
    "random numbers of nothing": lambda arrays: arrays.update({"0 random": np.array("[]")}),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("sealed", [True, False], ids=["with a new checksum", "with the old checksum"])
def test_a_checkpoint_that_was_changed_is_refused(change, sealed):
    arrays = take_checkpoint([chain()], 1, 20)
    change(arrays)
    if sealed:
        arrays["sha256"] = np.array(digest({name: one for name, one in arrays.items() if name != "sha256"}))
    with pytest.raises(lamina.StorageError, match="the checkpoint is damaged"):
        restore_checkpoint(arrays, [chain()])


def _without_checksum(arrays):
    del arrays["sha256"]


def _sealed(arrays):
    arrays["sha256"] = np.array(digest({name: one for name, one in arrays.items() if name != "sha256"}))


def _fewer(arrays):
    del arrays["0 mean"]
    _sealed(arrays)


def _more(arrays):
    arrays["0 temperature"] = np.zeros(3)
    _sealed(arrays)


@pytest.mark.parametrize("change", [_without_checksum, _fewer, _more])
def test_a_checkpoint_of_another_version_is_called_so(change):
    arrays = take_checkpoint([chain()], 1, 20)
    change(arrays)
    with pytest.raises(lamina.StorageError, match="made by another version of lamina, which kept other numbers"):
        restore_checkpoint(arrays, [chain()])


def test_a_checkpoint_with_something_missing_and_the_old_checksum_is_damaged():
    arrays = take_checkpoint([chain()], 1, 20)
    del arrays["0 mean"]
    with pytest.raises(lamina.StorageError, match="the checkpoint is damaged"):
        restore_checkpoint(arrays, [chain()])


@pytest.mark.parametrize("checkpoint", [{}, {"of": np.array("")}, [1, 2]], ids=["empty", "strange", "list"])
def test_what_is_no_checkpoint_is_refused(checkpoint):
    with pytest.raises((lamina.StorageError, lamina.MethodError), match="Start without it"):
        restore_checkpoint(checkpoint, [chain()])

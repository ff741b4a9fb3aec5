"""Cores, and work in parts on them."""

import os
import threading

import numpy as np
import pytest

from lamina.support.cpus import at_most, available_cpus, in_parts


def test_cores_can_be_limited_for_a_while():
    before = available_cpus()
    with at_most(1):
        assert available_cpus() == 1
        with at_most(1000):
            assert available_cpus() == before
        assert available_cpus() == 1
    assert available_cpus() == before


@pytest.mark.parametrize("n", [0, 1, 5, 64, 100])
@pytest.mark.parametrize("multiple", [1, 32])
@pytest.mark.parametrize("cores", [1, 3])
def test_parts_make_up_the_whole_and_begin_at_multiples(monkeypatch, n, multiple, cores):
    monkeypatch.setattr("lamina.support.cpus.available_cpus", lambda: cores)
    seen, parts = np.zeros(n, dtype=int), []

    def work(part):
        parts.append(part)
        seen[part] += 1

    in_parts(n, work, multiple)
    assert (seen == 1).all()
    assert all(part.start % multiple == 0 for part in parts)
    assert len(parts) == min(cores, -(-n // multiple))


def test_on_one_core_no_thread_is_started():
    threads = []
    with at_most(1):
        in_parts(10, lambda part: threads.append(threading.get_ident()))
    assert threads == [threading.get_ident()]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not tell")
def test_no_more_cores_than_the_process_may_use():
    assert available_cpus() == len(os.sched_getaffinity(0))

"""How much work a call is, beside a harmless call in the same process: tests assert no seconds."""

import gc
import time


def cpu(call, repeat=2):
    """CPU seconds that a call takes in this thread, the least of some repetitions, without collecting garbage."""
    found = []
    gc.disable()  # a process that ran many tests has much to collect
    try:
        for _ in range(repeat):
            began = time.thread_time()
            call()
            found.append(time.thread_time() - began)
    finally:
        gc.enable()
    return min(found)

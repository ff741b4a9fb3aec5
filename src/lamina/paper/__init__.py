"""The experiments of Tran, Pavlovic & Kopp (2015), as library calls: what their paper shows, beside what lamina adds.

synthetic()  the five functions with noisy inputs: its Figure 1, and its supplement
timing()     its training times, and what of them is the algorithm
sealevel()   Nassau Landing, Florida: its Figure 2 and Table 1
"""

from .functions import synthetic
from .nassau import sealevel
from .times import timing

__all__ = ["sealevel", "synthetic", "timing"]

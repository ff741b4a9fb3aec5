"""The experiments of Tran, Pavlovic & Kopp (2015) as library calls.

synthetic()  five functions with noisy inputs: their Figure 1 and supplement
timing()     training times, and how much of them is due to the algorithm
sealevel()   Nassau Landing, Florida: their Figure 2 and Table 1
"""

from .functions import synthetic
from .nassau import sealevel
from .times import timing

__all__ = ["sealevel", "synthetic", "timing"]

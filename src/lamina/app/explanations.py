"""The choices of a fit in plain words, beside the help of each option."""

from __future__ import annotations

#: What each command does, for those who do not know its name.
COMMANDS = {
    "fit": "A curve through the measurements, with its rate of change",
    "agedepth": "An age-depth model: the age of every layer, from the dates alone",
    "field": "Many sites together: the curve of each, and what they have in common",
}
#: The settings that are shown first; all others are below them.
MAIN = {
    "fit": ["method", "kernel", "gaps", "mean", "interval", "at"],
    "agedepth": ["depths", "steps", "memory"],
    "field": ["method", "gaps", "interval", "at"],
}
#: Labels of options whose help takes for granted that one knows the command line.
LABELS = {
    "kernel": "Kernel: how smooth the curve is; a sum is written a+b.",
    "gaps": "Gap prior: how the layers accumulate.",
    "interval": "Mean rate over intervals, such as 1900:2000.",
    "at": "Times of the tables: first:last:step, or a,b,c.",
    "ages": "Ensemble of ages from another age model, by depth: add its file.",
    "ages_covariance": "Covariance of the errors of the ages from another age model: add its file.",
    "gia": "Table with the rate of glacial isostasy at each site: add it.",
    "dates": "Another table with the dates of the core, joined by depth: add it.",
}
#: What a choice means, by option and value.
CHOICES = {
    "method": {
        "mcmc": "The reference: samples curve, ages and parameters together until the chains agree.",
        "nuts": "A second sampler, to check the first. Needs the extra lamina[nuts].",
        "npv": "A fast approximation with uncertain ages and order.",
        "nigp": "A fast approximation that turns age errors into extra scatter. Does not use the order.",
        "gp": "Takes every age as exact. For comparison only.",
    },
    "kernel": {
        "matern32": "A curve with a rate of change that may turn abruptly. A good default.",
        "matern52": "A smoother curve, whose rate changes gradually.",
        "matern12": "A rough curve without a rate of change.",
        "squared-exponential": "A very smooth curve.",
        "rational-quadratic": "Smooth, with variation on many time scales at once.",
        "periodic": "A cycle that repeats.",
        "matern52+matern12": "A smooth curve plus fast scatter.",
    },
    "gaps": {
        "gamma": "Layers accumulate more or less steadily; how steadily is estimated from the data.",
        "exponential": "Layers fall at random in time.",
        "uniform": "Any ordered set of ages is equally likely.",
        "log-uniform": "Gaps of any size, from short to long, are equally likely.",
    },
    "mean": {
        "constant": "The curve varies about an unknown level.",
        "linear": "The curve varies about a straight line of unknown slope.",
        "zero": "The curve varies about zero.",
    },
    "curve": {
        "IntCal20": "Land plants of the northern hemisphere.",
        "SHCal20": "Land plants of the southern hemisphere.",
        "Marine20": "Marine samples. Give their reservoir offsets in columns of the table.",
    },
    "outliers": {
        "mixture": "A few values may be far off the curve.",
        "student": "All values have errors with heavy tails.",
    },
}
#: The embedded tables.
RECORDS = {
    "nassau": "Sea level at Nassau Landing, Florida: one core and a tide gauge",
    "atlantic": "Sea level on the Atlantic coast of North America: 43 places",
}

"""Fields: many sites, one chain of states over the merged rows of all of them.

``layout`` writes a kernel and the sites down as arrays, ``filter`` evaluates the likelihood, ``gradient`` its
derivatives, ``smoothing`` predicts, ``paths`` draws. ``oracle`` does the same on dense matrices, as written.
"""

"""mcmc on a field: inputs of all cores given a path of the field, and parameters given the inputs, in turn.

A sweep of the chain (``sampler``) leaves the posterior invariant part by part:

    theta     joint moves of the kernel's parameters, with the field integrated out on the chain: those of the curves,
              with a filter each, and those of constants and rates, without one (``lamina.field.reduced``)
    path      a joint draw of all processes at the nodes of a grid in time
    inputs    of each core given the path (``inputs``), on an approximation that treats rows as independent given the
              path (``approximate``); all of them are then accepted or rejected with the exact density (``exact``)
    alpha     together with the gaps (``alpha``), given the path, in the same way
"""

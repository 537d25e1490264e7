"""How fast and how cheap (`make bench`): ratios within one run, since the machine is never the same twice."""

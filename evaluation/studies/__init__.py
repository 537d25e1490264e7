"""Studies that the paper leaves open, on stored runs or a simulated world: they change what was answered in a stated
way, score it again and ask nobody."""

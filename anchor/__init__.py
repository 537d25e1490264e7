"""The reverse posterior, a label-free anchor: ordinal maps, the two elicitation questions, exact replay. Pure."""

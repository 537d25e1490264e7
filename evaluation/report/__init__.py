"""`crosspath report`: the paper's tables and figures from one or more finished runs.

anchors, scored (a run → ScoredRun), study (runs → Report) → headline, displays, figures (Report → what is shown) →
page (HTML), latex, files (CSV, JSON).
"""

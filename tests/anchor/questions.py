"""A small domain with candidates and findings to ask about."""

from domains.case import Domain, Finding, Label

DOMAIN = Domain(
    name="faults",
    title="Faults of a web shop",
    case_noun="incident",
    label_noun="cause",
    labels=tuple(
        Label(name)
        for name in ("Full disk", "Memory leak", "Bad deploy", "Expired certificate", "Network split", "Slow query")
    ),
    description="Incidents of a web shop and what caused them.",
)
CANDIDATES = (0, 2, 3, 5)
FINDINGS = (
    Finding("latency", "Latency rises slowly", "evidence"),
    Finding("tls", "Clients report TLS errors", "evidence"),
    Finding("errors", "Error rate jumps at once", "evidence"),
)
SEED = "5f0c"

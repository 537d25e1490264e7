"""A reliability diagram before and after, as one SVG that needs nothing else and suits light and dark pages."""

import math
from collections.abc import Iterator

from evaluation.calibration import Effect
from evaluation.reliability import AnchorScores, Reliability

_SIDE, _LEFT, _TOP, _PANEL = 240, 52, 34, 310
"""A plot's side, its place in its panel, and the panel's width: in the SVG's own units."""
_WIDEST = 9.0
"""The radius of a dot that stands for all cases."""
_STYLE = """\
text{font:12px system-ui,sans-serif;fill:#333}
.title{font-weight:600}
.frame{fill:none;stroke:#999}
.even{stroke:#999;stroke-dasharray:4 4}
.gap{stroke:#c2410c;stroke-width:2}
.dot{fill:#1d4ed8}
@media (prefers-color-scheme:dark){text{fill:#ddd}.gap{stroke:#fb923c}.dot{fill:#93c5fd}}"""


def reliability_svg(effect: Effect) -> str:
    """Two diagrams side by side. Each dot is a bin: how sure the anchor was of the label it decided, how often it was
    right, its area the share of cases; a line joins it to the diagonal, on which sure and right are the same."""
    width, height = 2 * _PANEL, _TOP + _SIDE + 46
    panels = [*_panel("before", effect.before, 0), *_panel("after", effect.after, _PANEL)]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
            ' role="img" aria-label="Reliability diagrams before and after calibration">',
            f"<style>{_STYLE}</style>",
            *panels,
            "</svg>\n",
        ]
    )


def _panel(title: str, scores: AnchorScores, offset: int) -> Iterator[str]:
    diagram = scores.reliability
    middle, foot = _SIDE / 2, _SIDE + 36
    yield f'<g transform="translate({offset + _LEFT} {_TOP})">'
    yield f'<text class="title" y="-12">{title}: ECE {diagram.ece:.3f}, n = {scores.cases:,}</text>'
    yield f'<rect class="frame" width="{_SIDE}" height="{_SIDE}"/>'
    yield f'<line class="even" x1="0" y1="{_SIDE}" x2="{_SIDE}" y2="0"/>'
    for share in (0.0, 0.5, 1.0):
        yield f'<text x="{share * _SIDE:g}" y="{_SIDE + 17}" text-anchor="middle">{share:g}</text>'
        yield f'<text x="-7" y="{(1 - share) * _SIDE + 4:g}" text-anchor="end">{share:g}</text>'
    yield f'<text x="{middle:g}" y="{foot}" text-anchor="middle">how sure of its label</text>'
    yield f'<text transform="translate(-32 {middle:g}) rotate(-90)" text-anchor="middle">how often right</text>'
    yield from _dots(diagram)
    yield "</g>"


def _dots(diagram: Reliability) -> Iterator[str]:
    total = int(diagram.count_B.sum())
    for count, sure, right in zip(diagram.count_B, diagram.confidence_B, diagram.accuracy_B, strict=True):
        if not count:
            continue
        x, y, even = sure * _SIDE, (1 - right) * _SIDE, (1 - sure) * _SIDE
        radius = max(2.0, _WIDEST * math.sqrt(count / total))
        yield f'<line class="gap" x1="{x:.1f}" y1="{even:.1f}" x2="{x:.1f}" y2="{y:.1f}"/>'
        yield f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">'
        yield f"<title>{count} cases: {sure:.1%} sure, {right:.1%} right</title></circle>"

"""A plot of ratios as SVG: a row for each workload, a dot for each contender, on a logarithmic scale."""

from __future__ import annotations

from math import ceil, floor, log10

LEFT, WIDTH, ROW, TOP = 330, 560, 26, 70
COLOURS = {
    "text": "#0b6e4f",
    "in blocks": "#7d5a3c",
    "Numba": "#7cb518",
    "OpenCL": "#8e5aa8",
    "autograd": "#f3a712",
    "JAX jit": "#3d5a98",
    "PyTorch": "#c8553d",
}


def plot(rows: list[tuple[str, dict[str, float]]]) -> str:
    """The text of the picture.

    >>> text = plot([("chain", {"text": 1.0, "JAX jit": 20.0})])
    >>> text.count("<circle"), text.startswith("<svg")
    (4, True)
    """
    values = [value for _, found in rows for value in found.values()]
    low, high = floor(log10(min([*values, 0.9]))), ceil(log10(max([*values, 1.1])))
    height = TOP + ROW * len(rows) + 30

    def across(value: float) -> float:
        return LEFT + WIDTH * (log10(value) - low) / (high - low)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 30} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{LEFT + WIDTH + 30}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="20">time over that of the hand-written NumPy gradient</text>',
        *_legend([name for name in COLOURS if any(name in found for _, found in rows)]),
    ]
    for power in range(low, high + 1):
        x, weight = across(10.0**power), 2 if power == 0 else 0.5
        drawn.append(f'<path d="M{x:.1f} {TOP - 12}V{height - 22}" stroke="#888" stroke-width="{weight}"/>')
        drawn.append(f'<text x="{x:.1f}" y="{height - 6}" text-anchor="middle">{10.0**power:g}</text>')
    for place, (title, found) in enumerate(rows):
        y = TOP + ROW * place
        drawn.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{title}</text>')
        drawn.append(f'<path d="M{LEFT} {y}H{LEFT + WIDTH}" stroke="#ddd"/>')
        for name in reversed(COLOURS):
            if name in found:
                drawn.append(f'<circle cx="{across(found[name]):.1f}" cy="{y}" r="6" fill="{COLOURS[name]}"/>')
    return "\n".join([*drawn, "</svg>", ""])


def _legend(names: list[str]) -> list[str]:
    drawn = []
    for place, name in enumerate(names):
        x = LEFT + 110 * place
        drawn.append(f'<circle cx="{x + 6}" cy="38" r="6" fill="{COLOURS[name]}"/>')
        drawn.append(f'<text x="{x + 18}" y="42">{name}</text>')
    return drawn

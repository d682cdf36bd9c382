"""Make the pictures of the documentation anew, in Chromium: `python -m tests.pictures`.

They are in docs/pictures/. Look at them before you commit them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from srcgrad.interface.cli import main
from tests.browser import browser, opened, wait
from tests.interface.explorer.server import explorer
from tests.pages import ROOT, blocks

FOLDER = ROOT / "docs" / "pictures"
ROD = "np.ones(50), np.ones(51), np.ones(50), np.ones(50), 0.01, 200"


def pictures() -> None:
    """The report of the heat equation, light, and of the mixture, dark; the explorer."""
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, browser() as context:
        os.chdir(name)
        text = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")
        Path("model.py").write_text(blocks(text)[0].text, encoding="utf-8")
        main(["dump", "model.py", "--wrt", "start,conductivity,source", "--html", "heat.html", "--args", ROD])
        mixture = str(ROOT / "examples" / "mixture" / "model.py:log_likelihood")
        main(["dump", mixture, "--wrt", "logits,means,log_scales", "--html", "mixture.html"])
        for report, scheme, down, line in (("heat", "light", 700, 12), ("mixture", "dark", 900, 19)):
            with opened(context, Path(f"{report}.html").resolve().as_uri(), scheme) as (page, _):
                page.set_viewport_size({"width": 1120, "height": 640})
                page.evaluate(f"scrollTo(0, {down})")
                page.locator(".pair").last.locator(f".source .line[data-n='{line}']").hover()
                page.screenshot(path=str(FOLDER / f"{report}.png"))
        with explorer() as running, opened(context, running.address) as (page, _):
            page.set_viewport_size({"width": 1120, "height": 640})
            wait(page, "document.body.dataset.answers === '1'")
            page.select_option("#example", "The heat equation")
            wait(page, "document.body.dataset.answers === '2'")
            page.mouse.move(900, 400)
            page.mouse.wheel(0, 330)
            page.wait_for_timeout(200)
            box = page.locator("#editor .line:has-text('heating = ')").bounding_box()
            page.mouse.move(box["x"] + 190, box["y"] + 8)
            page.screenshot(path=str(FOLDER / "explore.png"))


if __name__ == "__main__":
    os.environ["SRCGRAD_BROWSER"] = "required"
    pictures()

// Lights the partners of a line that is pointed at or has the focus. Reports that are ready are left alone.
for (const report of document.querySelectorAll(".srcgrad-report:not(.ready)")) {
  report.classList.add("ready");
  const status = report.querySelector(".status");
  let pinned = null;

  const partners = (line) => [...line.closest(".pair").querySelectorAll(`.line[data-g="${line.dataset.g}"]`)];
  const side = (line) => line.closest(".side");
  const place = (line) => Number(line.dataset.n);

  const told = (line) => line.querySelector("button.no")?.ariaLabel ?? "";
  const light = (line) => {
    for (const one of report.querySelectorAll(".lit, .at")) one.classList.remove("lit", "at");
    if (line) for (const one of partners(line)) one.classList.add("lit");
    line?.classList.add("at");
    status.textContent = line ? told(line) : "";
  };
  const pin = (line) => {
    for (const one of report.querySelectorAll("[aria-pressed=true].no")) one.setAttribute("aria-pressed", "false");
    pinned = line;
    line?.querySelector(".no").setAttribute("aria-pressed", "true");
    light(line);
    const other = line && partners(line).find((l) => side(l) !== side(line));
    other?.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const focus = (line) => {
    const button = line?.querySelector("button.no");
    if (!button) return;
    for (const one of side(line).querySelectorAll('button.no[tabindex="0"]')) one.tabIndex = -1;
    button.tabIndex = 0;
    button.focus();
  };

  const lineOf = (event) => event.target.closest?.(".line[data-g]");
  report.addEventListener("pointerover", (event) => light(lineOf(event) ?? pinned));
  report.addEventListener("pointerleave", () => light(pinned));
  report.addEventListener("focusin", (event) => light(event.target.matches(".no") ? lineOf(event) : pinned));
  report.addEventListener("click", (event) => {
    if (!event.target.matches("button.no")) return;
    const line = lineOf(event);
    pin(line === pinned ? null : line);
    if (line) focus(line);
  });
  report.addEventListener("keydown", (event) => {
    if (event.key === "Escape") pin(null);
    if (!event.target.matches("button.no")) return;
    const line = lineOf(event);
    const seen = [...side(line).querySelectorAll("button.no")].filter((b) => b.checkVisibility()).map((b) => b.closest(".line"));
    const at = seen.indexOf(line);
    const goal = {
      ArrowDown: seen[at + 1], ArrowUp: seen[at - 1], Home: seen[0], End: seen.at(-1),
      ArrowRight: partners(line).find((l) => side(l) !== side(line)), ArrowLeft: partners(line).find((l) => side(l) !== side(line)),
    }[event.key];
    if (goal) {
      event.preventDefault();
      focus(goal);
    }
  });

  const theme = report.querySelector(".theme");
  const dark = () => (report.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  theme.setAttribute("aria-pressed", String(dark()));
  theme.addEventListener("click", () => {
    report.dataset.theme = dark() ? "light" : "dark";
    theme.setAttribute("aria-pressed", String(dark()));
  });
  report.querySelector(".copy")?.addEventListener("click", async (event) => {
    const lines = [...report.querySelectorAll(".made .line")].sort((a, b) => place(a) - place(b));
    await navigator.clipboard.writeText(lines.map((l) => `${l.querySelector(":scope > code").textContent}\n`).join(""));
    event.target.textContent = "Copied";
  });
  const folds = [];
  addEventListener("beforeprint", () => {
    for (const fold of report.querySelectorAll("details:not([open])")) folds.push(fold), (fold.open = true);
  });
  addEventListener("afterprint", () => {
    while (folds.length) folds.pop().open = false;
  });
}

// The explorer's page: a text area over a coloured copy of its text, the derivative beside it, and what belongs together.

const find = (id) => document.getElementById(id);
const text = document.querySelector("#editor textarea");
const editor = { node: document.querySelector("#editor pre"), rows: [] };
const output = { node: document.querySelector("#output pre"), rows: [] };

// Colours of Python: for each line the pieces that have one, and the quotes that are open behind it.
const CONSTANTS = new Set(["False", "None", "True"]);
const KEYWORDS = new Set(
  `and as assert async await break class continue def del elif else except finally for from global if import in is
  lambda nonlocal not or pass raise return try while with yield`.split(/\s+/),
);
const PIECES =
  /(?<c>#.*)|[rbuft]{0,2}(?<open>"""|''')|(?<s>[rbuft]{0,2}(?:"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?))|(?<m>0[xob][\da-f_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?j?)|(?<word>[\p{L}_][\p{L}\p{N}_]*)/giu;

// Where quotes that stand open close, from a place on: behind them, or -1.
function closing(line, quotes, from) {
  for (let at = from; at < line.length; at++) {
    if (line[at] === "\\") at++;
    else if (line.startsWith(quotes, at)) return at + 3;
  }
  return -1;
}

function pieces(line, quotes) {
  const found = [];
  let [at, defines] = [0, false];
  const string = (from, inside) => {
    const end = closing(line, quotes, inside);
    at = end < 0 ? line.length : end;
    if (end >= 0) quotes = "";
    if (from < at) found.push([from, at, "s"]);
  };
  if (quotes) string(0, 0);
  while (at < line.length) {
    PIECES.lastIndex = at;
    const match = PIECES.exec(line);
    if (!match) break;
    const { c, open, s, m, word } = match.groups;
    at = match.index + match[0].length;
    if (open) {
      quotes = open;
      string(match.index, at);
      continue;
    }
    const kind = c ? "c" : s ? "s" : m || CONSTANTS.has(word) ? "m" : KEYWORDS.has(word) ? "k" : defines ? "f" : "";
    if (kind) found.push([match.index, at, kind]);
    defines = word === "def" || word === "class";
  }
  return [found, quotes];
}

// Rows: a line's text, the quotes open before and after it, what is told of it, its errors, and the element that shows it.
const made = (name, kind, content) => Object.assign(document.createElement(name), { className: kind, textContent: content });

function draw(row) {
  const { node, told, line } = row;
  const [found, after] = pieces(line, row.before);
  row.after = after;
  const pieced = (from, to) => {
    const parts = [];
    let at = from;
    for (const [start, end, kind] of found) {
      const [a, b] = [Math.max(start, at), Math.min(end, to)];
      if (a >= b) continue;
      if (at < a) parts.push(line.slice(at, a));
      parts.push(made("span", kind, line.slice(a, b)));
      at = b;
    }
    if (at < to) parts.push(line.slice(at, to));
    return parts;
  };
  const parts = [];
  let at = 0;
  for (const { from, to, title } of row.errors) {
    const [a, b] = [Math.max(from, at), Math.min(to, line.length)];
    if (a >= b) continue;
    const wrong = made("span", "wrong", "");
    wrong.title = title;
    wrong.append(...pieced(a, b));
    parts.push(...pieced(at, a), wrong);
    at = b;
  }
  parts.push(...pieced(at, line.length));
  if (told?.keeps?.length) parts.push(made("span", "kept", `keeps ${told.keeps.join("; ")}`));
  node.replaceChildren(...parts);
  node.classList.toggle("inactive", Boolean(told?.why));
  return row;
}

// Show a text: rows before and behind what has changed stay, with all that is told of them.
function fill(pane, content) {
  const [old, next] = [pane.rows, content.split("\n")];
  const least = Math.min(old.length, next.length);
  let [head, tail, quotes] = [0, 0, ""];
  while (head < least && old[head].line === next[head]) quotes = old[head++].after;
  while (tail < least - head && old.at(-1 - tail).line === next.at(-1 - tail)) tail++;
  const gone = old.slice(head, old.length - tail);
  const fresh = next.slice(head, next.length - tail).map((line, k) => {
    const { told, errors = [] } = gone[k] ?? {};
    const row = draw({ line, before: quotes, told, errors, node: made("div", "line", "") });
    quotes = row.after;
    return row;
  });
  const rest = old.slice(old.length - tail);
  for (const row of gone) row.node.remove();
  const all = document.createDocumentFragment();
  all.append(...fresh.map((row) => row.node));
  pane.node.insertBefore(all, rest[0]?.node ?? null);
  for (const row of rest) {
    if (row.before === quotes) break;
    row.before = quotes;
    quotes = draw(row).after;
  }
  pane.rows = [...old.slice(0, head), ...fresh, ...rest];
}

// Lines that belong together are lit on both sides.
let shown = { text: "", made: [], source: {}, errors: [] };
let group = 0;
function light(wanted) {
  if (wanted === group) return;
  group = wanted;
  for (const row of editor.rows) row.node.classList.toggle("lit", group > 0 && row.told?.group === group);
  output.rows.forEach((row, k) => row.node.classList.toggle("lit", group > 0 && shown.made[k] === group));
}

const rowAt = (pane, y) => {
  const { top, height } = pane.rows[0].node.getBoundingClientRect();
  return Math.max(0, Math.min(pane.rows.length - 1, Math.floor((y - top) / height)));
};
text.onmousemove = ({ clientX: x, clientY: y }) => {
  const row = editor.rows[rowAt(editor, y)];
  light(row.told?.group ?? 0);
  const wrong = [...row.node.querySelectorAll(".wrong")].find((one) => {
    const { left, right } = one.getBoundingClientRect();
    return left <= x && x < right;
  });
  const title = wrong?.title ?? (row.told?.why ? `carries no derivative: ${row.told.why}` : "");
  if (text.title !== title) text.title = title;
};
output.node.onmousemove = (event) => light(shown.made[rowAt(output, event.clientY)] ?? 0);
text.onmouseleave = output.node.onmouseleave = () => light(0);

// The place of the cursor: its row, and its column.
function cursor() {
  const at = text.selectionDirection === "backward" ? text.selectionStart : text.selectionEnd;
  const before = text.value.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  return { row: before.split("\n").length - 1, column: at - start };
}

// The text area is as large as its text; what scrolls is around it, and follows the cursor.
function follow(node, column) {
  const box = node.closest("section");
  const [seen, row] = [box.getBoundingClientRect(), node.getBoundingClientRect()];
  if (row.top < seen.top) box.scrollTop -= seen.top - row.top;
  const bottom = seen.top + box.clientHeight;
  if (row.bottom > bottom) box.scrollTop += row.bottom - bottom;
  const width = parseFloat(getComputedStyle(node, "::before").width) / 5; // of a character: the numbers have 5
  const x = row.left + (column + 6) * width;
  if (x < seen.left + 7 * width) box.scrollLeft -= seen.left + 7 * width - x;
  const right = seen.left + box.clientWidth - 2 * width;
  if (x > right) box.scrollLeft += x - right;
}

function moved() {
  const { row, column } = cursor();
  if (!editor.rows[row]) return;
  follow(editor.rows[row].node, column);
  light(editor.rows[row].told?.group ?? 0);
}
let current = -1; // the line of the derivative that keys have come to
function stand(row) {
  current = row;
  light(shown.made[row] ?? 0);
}
document.addEventListener("selectionchange", () => {
  if (document.activeElement === text) return moved();
  const at = getSelection().focusNode;
  if (output.node.contains(at)) stand(output.rows.findIndex((row) => row.node.contains(at)));
});
output.node.onkeydown = (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    stand(Math.max(0, Math.min(output.rows.length - 1, current + step)));
    follow(output.rows[current].node, 0);
  } else if ((event.ctrlKey || event.metaKey) && event.key === "a") getSelection().selectAllChildren(output.node);
  else return;
  event.preventDefault();
};
output.node.oncopy = (event) => {
  const part = getSelection().getRangeAt(0).cloneContents();
  const lines = [...part.querySelectorAll(".line")].map((line) => line.textContent);
  event.clipboardData.setData("text/plain", lines.length ? lines.join("\n") : part.textContent);
  event.preventDefault();
};

// Keys. What they put goes through the browser, so that it can be undone.
function put(from, to, string) {
  text.setSelectionRange(from, to);
  if (string === text.value.slice(from, to)) return;
  if (document.execCommand(string ? "insertText" : "delete", false, string)) return;
  text.setRangeText(string, from, to, "end");
  changed();
}

function indent(out) {
  const [from, to, whole] = [text.selectionStart, text.selectionEnd, text.value];
  const start = whole.lastIndexOf("\n", from - 1) + 1;
  if (from === to && !out) return put(from, to, " ".repeat(4 - ((from - start) % 4)));
  const last = to > from && whole[to - 1] === "\n" ? to - 1 : to; // a line of which only the beginning is reached stays
  const end = (whole + "\n").indexOf("\n", last);
  const lines = whole.slice(start, end).split("\n");
  const after = lines.map((line) => (out ? line.replace(/^( {1,4}|\t)/, "") : line && `    ${line}`));
  put(start, end, after.join("\n"));
  const first = after[0].length - lines[0].length;
  const moved = after.join("\n").length - (end - start);
  text.setSelectionRange(Math.max(start, from + first), Math.max(start, to + moved));
}

// A new line begins where the last one did: further in behind a colon, further out behind what ends a block.
function newline() {
  const [from, to] = [text.selectionStart, text.selectionEnd];
  const line = text.value.slice(text.value.lastIndexOf("\n", from - 1) + 1, from);
  let space = line.match(/^[ \t]*/)[0];
  if (/:\s*(#.*)?$/.test(line) && !/^\s*#/.test(line)) space += "    ";
  else if (/^\s*(return|pass|break|continue|raise)\b/.test(line)) space = space.slice(0, -4);
  put(from, to, `\n${space}`);
}

function erase() {
  const at = text.selectionStart;
  const line = text.value.slice(text.value.lastIndexOf("\n", at - 1) + 1, at);
  if (at !== text.selectionEnd || line.length < 2 || line.trim() || line.includes("\t")) return false;
  put(at - (line.length % 4 || 4), at, "");
  return true;
}

let leaving = false; // Escape was pressed: Tab leaves
text.onkeydown = (event) => {
  const { key, shiftKey, altKey } = event;
  const control = event.ctrlKey || event.metaKey;
  const left = leaving;
  if (key !== "Shift") leaving = key === "Escape";
  if (event.isComposing || altKey) return;
  if (key === "Tab" && !control && !left) indent(shiftKey);
  else if (control && (key === "]" || key === "[")) indent(key === "[");
  else if (key === "Enter" && !control && !shiftKey) newline();
  else if (key === "Backspace" && !control && !shiftKey) {
    if (!erase()) return;
  } else return;
  event.preventDefault();
};
text.onblur = () => void (leaving = false);

// Questions: the newest counts, and an older one that is still under way is given up.
let underway = null;
const asked = () => ({ text: text.value, mode: find("mode").value, wrt: find("wrt").value, target: find("target").value });

async function ask() {
  underway?.abort();
  const mine = (underway = new AbortController());
  const start = performance.now();
  try {
    const reply = await fetch("ask", {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(asked()), signal: mine.signal,
    });
    if (reply.headers.get("content-type") !== "application/json") throw new Error(await reply.text());
    const found = await reply.json();
    if (mine !== underway) return;
    show(found, performance.now() - start);
    const address = `#${await packed(asked())}`;
    if (mine === underway) history.replaceState(null, "", address);
  } catch (error) {
    if (error.name === "AbortError") return;
    find("state").textContent = `No answer: ${error.message}`;
  }
}

function changed() {
  fill(editor, text.value);
  ask();
}
text.oninput = changed;

function show(found, milliseconds) {
  const failed = !found.text && found.errors.length > 0;
  shown = failed ? { ...found, text: shown.text } : found;
  document.body.classList.toggle("stale", failed);
  if (!failed) fill(output, found.text);
  light(0);
  current = -1;
  const errors = new Map();
  for (const error of found.errors) {
    const at = place(error);
    if (at) errors.set(at.row, [...(errors.get(at.row) ?? []), mark(error, at)]);
  }
  editor.rows.forEach((row, k) => {
    const [told, wrong] = [shown.source[k + 1], (errors.get(k) ?? []).sort((a, b) => a.from - b.from)];
    if (JSON.stringify([told, wrong]) === JSON.stringify([row.told, row.errors])) return;
    [row.told, row.errors] = [told, wrong];
    draw(row);
  });
  find("errors").replaceChildren(...found.errors.map(entry));
  const count = found.errors.length;
  find("state").textContent = `${count ? `${count} error${count > 1 ? "s" : ""}` : "Differentiated"} in ${milliseconds.toFixed(0)} ms${failed && shown.text ? "; the derivative is that of the last text that had one" : ""}`;
  document.body.dataset.answers = String(Number(document.body.dataset.answers ?? 0) + 1);
}

// Columns count characters of Python, which may be two here.
const offset = (line, count) => [...line].slice(0, count).join("").length;

function place(error) {
  const row = error.line - 1;
  const line = editor.rows[row]?.line;
  if (line === undefined) return null;
  const from = offset(line, error.column);
  const to = offset(line, error.column + error.width);
  return { row, from, to: error.width ? Math.max(to, Math.min(from + 1, line.length)) : line.length };
}

// What an error is about has a line below it, and tells it where the pointer rests; `entry` tells it to all others.
const mark = (error, { from, to }) => ({ from, to, title: `${error.code} ${error.message}\nWhat to do: ${error.remedy}` });

function entry(error) {
  const item = document.createElement("li");
  const at = place(error);
  const where = [error.function, at && `line ${error.line}`].filter(Boolean).join(", ");
  const button = made(at ? "button" : "span", "", `${error.code}${where ? ` (${where})` : ""}: ${error.message}`);
  if (at)
    button.onclick = () => {
      const start = editor.rows.slice(0, at.row).reduce((sum, row) => sum + row.line.length + 1, 0);
      text.focus();
      text.setSelectionRange(start + at.from, start + at.to);
      moved();
    };
  const about = document.createElement("details");
  const page = made("pre", "", error.about);
  page.tabIndex = 0;
  about.append(made("summary", "", `More on ${error.code}`), page);
  item.append(button, made("p", "", `What to do: ${error.remedy}`), about);
  return item;
}

// The address holds the text itself, behind the `#`, which browsers send to nobody: it is there when the page is loaded again.
const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
const through = (data, kind) => new Blob([data]).stream().pipeThrough(kind);
async function packed(value) {
  const data = await bytes(through(JSON.stringify(value), new CompressionStream("deflate-raw")));
  return btoa(String.fromCharCode(...data)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpacked(address) {
  const data = Uint8Array.from(atob(address.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await bytes(through(data, new DecompressionStream("deflate-raw")))));
}

find("link").onclick = async () => {
  location.hash = await packed(asked());
  await navigator.clipboard.writeText(location.href);
  find("state").textContent = "The link is copied; it works on this machine while the explorer runs";
};
find("download").onclick = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([shown.text], { type: "text/x-python" }));
  link.download = "model_grad.py";
  link.click();
  URL.revokeObjectURL(link.href);
};
for (const id of ["mode", "wrt", "target"]) find(id).oninput = ask;

const examples = await (await fetch("examples")).json();
find("example").append(...Object.keys(examples).map((name) => new Option(name)));
find("example").onchange = ({ target }) => {
  if (!(target.value in examples)) return;
  find("wrt").value = "";
  if (text.value === examples[target.value]) return void ask();
  text.focus({ preventScroll: true });
  put(0, text.value.length, examples[target.value]);
  text.setSelectionRange(0, 0);
  target.focus();
};
const first = { text: Object.values(examples)[0] };
const given = location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => first) : first;
for (const id of ["mode", "wrt", "target"]) if (given[id]) find(id).value = given[id];
text.value = String(given.text ?? "");
text.setSelectionRange(0, 0);
changed();

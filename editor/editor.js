// The explorer's page: an editor, the derivative beside it, and what belongs together.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import { EditorState, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers, WidgetType } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const find = (id) => document.getElementById(id);
const nonce = document.querySelector("meta[name=nonce]").content;
const colours = syntaxHighlighting(
  HighlightStyle.define([
    { tag: [tags.keyword, tags.operatorKeyword], class: "k" },
    { tag: tags.string, class: "s" },
    { tag: tags.comment, class: "c" },
    { tag: [tags.number, tags.bool, tags.null], class: "m" },
    { tag: tags.definition(tags.variableName), class: "f" },
  ]),
);

class Keeps extends WidgetType {
  constructor(text) {
    super();
    this.text = text;
  }
  eq(other) {
    return other.text === this.text;
  }
  ignoreEvent() {
    return false;
  }
  toDOM() {
    const made = document.createElement("span");
    made.className = "kept";
    made.textContent = this.text;
    return made;
  }
}

// Lines that are lit, and what is told of lines: both are made anew when they change.
const lines = (effect) =>
  StateField.define({
    create: () => Decoration.none,
    update(known, transaction) {
      for (const one of transaction.effects) if (one.is(effect)) return one.value(transaction.state);
      return known.map(transaction.changes);
    },
    provide: (field) => EditorView.decorations.from(field),
  });
const setLit = StateEffect.define();
const setTold = StateEffect.define();
const setWrong = StateEffect.define();

const lit = (numbers) => (state) => {
  const made = new RangeSetBuilder();
  for (const number of numbers) {
    if (number > state.doc.lines) continue;
    const at = state.doc.line(number).from;
    made.add(at, at, Decoration.line({ class: "lit" }));
  }
  return made.finish();
};
const told = (source) => (state) => {
  const made = new RangeSetBuilder();
  for (const [number, one] of Object.entries(source).sort((a, b) => a[0] - b[0])) {
    if (Number(number) > state.doc.lines) continue;
    const line = state.doc.line(Number(number));
    if (one.why) made.add(line.from, line.from, Decoration.line({ class: "inactive", attributes: { title: `carries no derivative: ${one.why}` } }));
    if (one.keeps.length) made.add(line.to, line.to, Decoration.widget({ widget: new Keeps(`keeps ${one.keeps.join("; ")}`), side: 1 }));
  }
  return made.finish();
};

let shown = { text: "", made: [], source: {}, errors: [] };
const common = [lineNumbers(), drawSelection(), colours, StreamLanguage.define(python), EditorView.cspNonce.of(nonce), lines(setLit), lines(setTold)];

const light = (group) => {
  const [own, other] = [[], []];
  for (const [number, one] of Object.entries(shown.source)) if (group && one.group === group) own.push(Number(number));
  shown.made.forEach((one, k) => group && one === group && other.push(k + 1));
  editor.dispatch({ effects: setLit.of(lit(own.sort((a, b) => a - b))) });
  output.dispatch({ effects: setLit.of(lit(other)) });
  return other;
};
const groupAt = (view, number) => (view === editor ? shown.source[number]?.group : shown.made[number - 1]) ?? 0;
const pointed = EditorView.domEventHandlers({
  mousemove(event, view) {
    const at = view.posAtCoords({ x: event.clientX, y: event.clientY }, false);
    light(groupAt(view, view.state.doc.lineAt(at).number));
  },
  mouseleave: () => void light(0),
});
const moved = EditorView.updateListener.of((update) => {
  if (update.docChanged && update.view === editor) ask();
  else if (update.selectionSet && update.view.hasFocus)
    light(groupAt(update.view, update.state.doc.lineAt(update.state.selection.main.head).number));
});

const editor = new EditorView({
  parent: find("editor"),
  extensions: [
    ...common, pointed, moved, history(), indentOnInput(), indentUnit.of("    "), bracketMatching(), lines(setWrong),
    keymap.of([...defaultKeymap, ...historyKeymap]),
    EditorView.contentAttributes.of({ "aria-label": "Your functions" }),
  ],
});
const output = new EditorView({
  parent: find("output"),
  extensions: [...common, pointed, moved, EditorState.readOnly.of(true), keymap.of(defaultKeymap), EditorView.contentAttributes.of({ "aria-label": "The derivative", "aria-readonly": "true" })],
});

// Questions: the newest counts, and an older one that is still under way is given up.
let underway = null;
const asked = () => ({ text: editor.state.doc.toString(), mode: find("mode").value, wrt: find("wrt").value, target: find("target").value });

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
    if (mine === underway) window.history.replaceState(null, "", address);
  } catch (error) {
    if (error.name === "AbortError") return;
    find("state").textContent = `No answer: ${error.message}`;
  }
}

function show(found, milliseconds) {
  const failed = !found.text && found.errors.length > 0;
  shown = failed ? { ...found, text: shown.text } : found;
  document.body.classList.toggle("stale", failed);
  if (!failed && output.state.doc.toString() !== found.text)
    output.dispatch({ changes: { from: 0, to: output.state.doc.length, insert: found.text } });
  editor.dispatch({ effects: [setTold.of(told(shown.source)), setLit.of(lit([]))] });
  output.dispatch({ effects: setLit.of(lit([])) });
  editor.dispatch({ effects: setWrong.of(() => Decoration.set(found.errors.flatMap(wrong), true)) });
  find("errors").replaceChildren(...found.errors.map(entry));
  const count = found.errors.length;
  find("state").textContent = `${count ? `${count} error${count > 1 ? "s" : ""}` : "Differentiated"} in ${milliseconds.toFixed(0)} ms${failed && shown.text ? "; the derivative is that of the last text that had one" : ""}`;
  document.body.dataset.answers = String(Number(document.body.dataset.answers ?? 0) + 1);
}

// Columns count characters of Python, which may be two here.
const offset = (text, count) => [...text].slice(0, count).join("").length;

function place(error) {
  const doc = editor.state.doc;
  if (!error.line || error.line > doc.lines) return null;
  const line = doc.line(error.line);
  const from = line.from + offset(line.text, error.column);
  const to = line.from + offset(line.text, error.column + error.width);
  return { from, to: error.width ? Math.max(to, Math.min(from + 1, line.to)) : line.to };
}

// What an error is about has a line below it, and tells it where the pointer rests; `entry` tells it to all others.
function wrong(error) {
  const at = place(error);
  const title = `${error.code} ${error.message}\nWhat to do: ${error.remedy}`;
  return at && at.from < at.to ? [Decoration.mark({ class: "wrong", attributes: { title } }).range(at.from, at.to)] : [];
}

function entry(error) {
  const item = document.createElement("li");
  const at = place(error);
  const button = document.createElement(at ? "button" : "span");
  const where = [error.function, at && `line ${error.line}`].filter(Boolean).join(", ");
  button.textContent = `${error.code}${where ? ` (${where})` : ""}: ${error.message}`;
  if (at)
    button.onclick = () => {
      editor.dispatch({ selection: { anchor: at.from, head: at.to }, scrollIntoView: true });
      editor.focus();
    };
  const remedy = document.createElement("p");
  remedy.textContent = `What to do: ${error.remedy}`;
  const about = document.createElement("details");
  const page = document.createElement("pre");
  page.tabIndex = 0;
  page.textContent = error.about;
  about.append(Object.assign(document.createElement("summary"), { textContent: `More on ${error.code}` }), page);
  item.append(button, remedy, about);
  return item;
}

// The address holds the text itself, behind the `#`, which browsers send to nobody: it is there when the page is loaded again.
const bytes = async (stream) => new Uint8Array(await new Response(stream).arrayBuffer());
const through = (data, kind) => new Blob([data]).stream().pipeThrough(kind);
async function packed(value) {
  const data = await bytes(through(JSON.stringify(value), new CompressionStream("deflate-raw")));
  return btoa(String.fromCharCode(...data)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
async function unpacked(text) {
  const data = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await bytes(through(data, new DecompressionStream("deflate-raw")))));
}

function load({ text = "", mode, wrt = "", target }) {
  if (mode) find("mode").value = mode;
  if (target) find("target").value = target;
  find("wrt").value = wrt;
  editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: String(text) } });
}

find("link").onclick = async () => {
  location.hash = await packed(asked());
  await navigator.clipboard.writeText(location.href);
  find("state").textContent = "The link is copied; it works on this machine while the explorer runs";
};
find("download").onclick = () => {
  const made = document.createElement("a");
  made.href = URL.createObjectURL(new Blob([output.state.doc.toString()], { type: "text/x-python" }));
  made.download = "model_grad.py";
  made.click();
  URL.revokeObjectURL(made.href);
};
for (const id of ["mode", "wrt", "target"]) find(id).oninput = ask;

const examples = await (await fetch("examples")).json();
find("example").append(...Object.keys(examples).map((name) => new Option(name)));
find("example").onchange = (event) => {
  if (event.target.value in examples) load({ text: examples[event.target.value], mode: find("mode").value, target: find("target").value });
};
const first = { text: Object.values(examples)[0] };
load(location.hash.length > 1 ? await unpacked(location.hash.slice(1)).catch(() => first) : first);

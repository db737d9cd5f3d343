// The page: a model and options go to the compiler, figures come back.

const element = (id) => document.getElementById(id);
const form = element("options");
/** The processor that is chosen at first: the one that most boards have. */
const USUAL = "cortex-m4";

let file = null;
/** Counts what was asked for: answers to what is no longer asked are dropped. */
let turn = 0;
let cycles = 0;
/** The points of the front, the sizes of constants among them, and the point that is selected. */
let points = [];
let flashes = [];
let point = null;
const open = new Map();
const worker = startWorker();

/** The compiler's own thread. A page from a disk may not load a file for it, so it is started from text. */
function startWorker() {
  const script = new Blob([element("worker").textContent], { type: "text/javascript" });
  const started = new Worker(URL.createObjectURL(script));
  started.onmessage = ({ data }) => {
    open.get(data.id)(data);
    open.delete(data.id);
  };
  return started;
}

/** Sends something to the compiler; gives the bytes that it says. */
function send(message) {
  const id = (send.count = (send.count ?? 0) + 1);
  return new Promise((resolve) => {
    open.set(id, resolve);
    worker.postMessage({ ...message, id });
  });
}

/** Asks about the model; an error is thrown in the compiler's words. */
async function ask(about, options = chosen(), more = {}) {
  const question = JSON.stringify({ about, file: file?.name ?? "", options, ...more });
  const { said, took } = await send({ question });
  // Files are zip files, everything else is an object or a list.
  if (said[0] === 0x50) return said;
  const answer = JSON.parse(new TextDecoder().decode(said));
  if (answer.error && about !== "chips") throw new Error(answer.error);
  if (about === "figures" || about === "step") answer.took = took;
  return answer;
}

/** The options as the form has them. Those that are not set are left out. */
function chosen() {
  return Object.fromEntries([...new FormData(form)].filter(([name, value]) => name && typeof value === "string" && value.trim()));
}

/** The module of this page: compressed, as text. */
async function module() {
  const text = atob(element("module").textContent.trim());
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function fill(name, values) {
  const select = form.elements[name];
  select.replaceChildren(...values.map(([value, text, isChosen]) => new Option(text ?? value, value, isChosen, isChosen)));
}

async function begin() {
  say("Starting the compiler …");
  await send({ module: await module() });
  const choices = await ask("choices", {});
  fill("optimize", choices.optimize.map((name) => [name]));
  fill("input", choices.input.map((name) => [name]));
  fill("io", choices.io.map((name) => [name]));
  fill("weights", [["", "as favoured"], ...choices.weights.map((name) => [name])]);
  fill("target", choices.target.map((names) => {
    const name = names.includes(USUAL) ? USUAL : names[0];
    return [name, names.join(", "), name === USUAL];
  }));
  element("about").textContent = `Kiln ${choices.kiln}. This page makes no connection: it is a single file, and works without a network.`;
  say("Ready.");
}

function say(text) {
  element("status").textContent = text;
}

/** Takes files that were dropped or chosen: a model, and inputs of it. */
async function takeAll(files) {
  const model = files.find((file) => !isCases(file));
  const inputs = files.find(isCases);
  // Inputs that came first wait for their model.
  if (model && file && !inputs) await takeCases(null);
  if (inputs) await takeCases(inputs, !model);
  if (model) await take(model);
}

/** Opens a model. */
async function take(chosenFile) {
  file = chosenFile;
  element("file-name").textContent = file.name;
  const bytes = new Uint8Array(await file.arrayBuffer());
  await ready;
  await send({ bytes });
  await compile();
}

/** Compiles, and shows everything: figures first, then what takes longer. */
async function compile() {
  if (!file) return;
  turn += 1;
  const mine = turn;
  const stale = () => mine !== turn;
  const main = element("result");
  main.setAttribute("aria-busy", "true");
  say(`Compiling ${file.name} …`);
  try {
    const figures = await ask("figures");
    if (stale()) return;
    showFigures(figures);
    element("error").hidden = true;
    main.hidden = false;
    const steps = [["report", showReport], ["front", showFront], ["chips", showChips]];
    for (const [about, show] of steps) {
      const found = await ask(about);
      if (stale()) return;
      show(found);
    }
    say(`Compiled in ${Math.round(figures.took)} ms.`);
  } catch (error) {
    if (stale()) return;
    main.hidden = true;
    element("error").hidden = false;
    element("error").querySelector("pre").textContent = error.message;
    say("");
  }
  main.setAttribute("aria-busy", "false");
  if (cases && !main.hidden) await run();
  // For whoever waits for it: tests do.
  document.dispatchEvent(new Event("compiled"));
}

/** An element with text or children. */
function make(name, content, attributes = {}) {
  const made = document.createElement(name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  made.append(...[content].flat());
  return made;
}

const bytes = (count) => `${grouped(count)} B`;

function showFigures(figures) {
  const { format, description, file_bytes: size, operators, type } = figures;
  element("model-name").textContent = file.name;
  element("model-about").textContent = [format, bytes(size), `${operators} operators`, description].filter(Boolean).join(" · ");
  ({ cycles } = figures);
  const unknown = figures.steps_without_prediction;
  const cells = [
    ["RAM", bytes(figures.ram_bytes), `arena ${bytes(figures.arena_bytes)}, state ${bytes(figures.state_bytes)}`],
    ["flash, constants", bytes(figures.constant_bytes), `weights in the file: ${bytes(figures.weight_bytes)}`],
    ["predicted cycles", cycles === null ? "–" : grouped(cycles), cycles === null ? "only for microcontrollers" : unknown ? `without ${unknown} of ${figures.steps} steps` : `in ${figures.steps} steps`],
    ["multiply-accumulates", grouped(figures.macs), `type ${type}`],
    ...[["input", figures.inputs], ["output", figures.outputs]].flatMap(([what, tensors]) =>
      tensors.map(({ name, type: shape, quantization }) => [what, shape, [name, quantization].filter(Boolean).join(", ")])),
  ];
  element("costs").replaceChildren(...cells.map(([what, value, more]) =>
    make("div", [make("dt", what), make("dd", [value, make("small", more)])], value.includes("[") ? { class: "tensor" } : {})));
  element("schedule").hidden = figures.pipelines.length === 0;
  // Drawn by the compiler, which escapes names.
  element("pipelines").innerHTML = figures.pipelines.join("");
}

/** A table: heads, and rows of cells; numbers stand on the right. */
function table(into, heads, rows) {
  const cell = (content, index) => typeof content === "number" ? make("td", grouped(content), { class: "n" })
    : index === 0 ? make("th", content, { scope: "row" }) : make("td", content);
  const head = make("thead", make("tr", heads.map((text) => make("th", text, { scope: "col" }))));
  into.replaceChildren(head, make("tbody", rows.map((row) => make("tr", row.map(cell)))));
}

/** Real boards with the core of each processor: name and clock in Hz. */
const BOARDS = /* boards */;

/** What cycles take on boards, if no wait states come on top. */
function onBoards(target, cycles) {
  const time = (hz) => (1e3 * cycles) / hz;
  return (BOARDS[target] ?? []).map(([board, hz]) => `${significant(time(hz))} ms on ${board} at ${Math.floor(hz / 1e6)} MHz`).join(", ");
}

function showChips(chips) {
  const heads = ["Processor", "Cycles", "RAM B", "Constants B", "Steps without prediction", "Time without wait states"];
  table(element("chips"), heads, chips.map((chip) => chip.error ? [chip.target, chip.error, "", "", "", ""]
    : [chip.target, chip.cycles ?? make("span", "–", { class: "n" }), chip.ram_bytes, chip.constant_bytes, chip.steps_without_prediction,
      chip.cycles ? onBoards(chip.target, chip.cycles) : ""]));
}

function showFront(found) {
  ({ points } = found);
  flashes = [...new Set(points.map((point) => point.constant_bytes))].sort((a, b) => a - b);
  element("front").hidden = points.length === 0;
  if (points.length === 0) {
    element("front-about").textContent = "Cycles are predicted for microcontrollers: choose one as the processor.";
    return;
  }
  element("front-about").textContent = points.length === 1 ? "There is one way to compile this model that no other beats."
    : `Of these ${points.length} ways to compile the model none is beaten in RAM, cycles and constants by another.`;
  element("most").max = element("most").value = flashes.length - 1;
  // The point that is compiled now, or the nearest.
  const distance = (point) => Math.abs(point.cycles - cycles);
  const nearest = points.reduce((best, point) => (distance(point) < distance(best) ? point : best));
  drawChart(element("chart"), points, (index) => {
    element("most").value = flashes.length - 1;
    showPoint(points[index]);
  });
  table(element("points"), ["RAM B", "Cycles", "Constants B", "Options"], points.map((point) =>
    [grouped(point.ram_bytes), point.cycles, point.constant_bytes, optionsOf(point)]));
  showPoint(nearest);
}

/** The points that take no more flash than the slider says: those that the other slider goes over. */
function within() {
  return points.filter((point) => point.constant_bytes <= flashes[element("most").value]);
}

/** Says what the sliders have selected; or selects a point, and says it. */
function showPoint(wanted) {
  const [list, slider] = [within(), element("budget")];
  point = list[slider.value];
  // What takes too much flash gives way to the fastest that does not.
  if (wanted) point = list.includes(wanted) ? wanted : list.reduce((best, other) => (other.cycles < best.cycles ? other : best));
  slider.max = list.length - 1;
  slider.value = list.indexOf(point);
  const says = (id, text) => {
    element(`${id}-says`).textContent = text;
    element(id).setAttribute("aria-valuetext", text);
  };
  says("most", bytes(flashes[element("most").value]));
  says("budget", bytes(point.ram_bytes));
  element("point").textContent = describePoint(point);
  const index = points.indexOf(point);
  for (const circle of element("chart").querySelectorAll("circle")) {
    const at = points[circle.dataset.index];
    circle.classList.toggle("chosen", at === point);
    circle.classList.toggle("beyond", !list.includes(at));
  }
  [...element("points").tBodies[0].rows].forEach((row, at) => row.toggleAttribute("aria-current", at === index));
}

function showReport({ html }) {
  // Written by the compiler, which escapes names.
  element("report").innerHTML = html;
  // What the page shows already.
  element("report").querySelector("#summary")?.remove();
}

/** Hands a file to the user. */
function save(content, name, type) {
  const link = make("a", "", { download: name, href: URL.createObjectURL(new Blob([content], { type })) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const stem = () => file.name.replace(/\.[^.]*$/, "");
const guarded = (work) => async () => {
  try {
    await work();
  } catch (error) {
    say(error.message);
  }
};

element("save-rust").onclick = guarded(async () => save((await ask("rust")).rust, `${stem()}.rs`, "text/plain"));
element("save-project").onclick = guarded(async () => save(await ask("project"), `${stem()}.zip`, "application/zip"));
element("budget").oninput = () => showPoint();
element("most").oninput = () => showPoint(point);
element("choose").onclick = () => {
  const { optimize = form.elements.optimize.value, ram = "", flash = form.elements.flash.value, weights = form.elements.weights.value } = point.options;
  Object.entries({ optimize, ram, flash, weights }).forEach(([name, value]) => { form.elements[name].value = value; });
  compile();
};
form.onsubmit = (event) => {
  event.preventDefault();
  compile();
};
form.onchange = ({ target }) => {
  if (target === element("file")) {
    takeAll([...target.files]);
  } else {
    compile();
  }
};
for (const kind of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    document.querySelectorAll(".drop").forEach((place) => place.classList.toggle("over", kind === "dragover"));
    if (kind !== "drop") return;
    const files = [...event.dataTransfer.files];
    // What is dropped there is meant as inputs, whatever it is.
    if (files.length === 1 && event.target.closest?.(".cases")) takeCases(files[0], true);
    else takeAll(files);
  });
}
// The buffer of the arena that is pointed at, touched or focused.
for (const kind of ["pointerover", "focusin", "click"]) {
  element("report").addEventListener(kind, ({ target }) => {
    const buffer = target.closest(".buffer");
    if (buffer) element("buffer").textContent = buffer.getAttribute("aria-label");
  });
}
const ready = begin().catch((error) => say(`The compiler does not start: ${error.message}`));

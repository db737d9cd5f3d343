// A run of the model: the interpreter computes one case after the other, and the page shows outputs, and how they compare.

/** What the model runs with: a file, or "noise"; nothing yet. */
let cases = null;
/** Counts runs: what belongs to an older one is dropped. */
let runs = 0;
/** What came of the last run. */
let ran = null;

const isCases = ({ name, type }) => /\.(np[zy]|png|wav)$/i.test(name) || type.startsWith("image/");

/** The bytes of a file with inputs. A picture that is no PNG file becomes one: the browser knows more formats than the compiler. */
async function caseBytes(given) {
  if (given.type.startsWith("image/") && given.type !== "image/png") {
    const image = await createImageBitmap(given);
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext("2d").drawImage(image, 0, 0);
    given = await canvas.convertToBlob({ type: "image/png" });
  }
  return new Uint8Array(await given.arrayBuffer());
}

/** Takes a file of inputs, or takes it away. With `atOnce`, the model that is open runs with it. */
async function takeCases(given, atOnce) {
  cases = given;
  runs += 1;
  element("outcome").hidden = element("run-error").hidden = true;
  element("save-outputs").disabled = true;
  element("run-status").textContent = "";
  showSeen(null);
  element("cases-name").textContent = given instanceof File ? given.name : "Choose inputs, or drop them here";
  await ready;
  let bytes = new Uint8Array();
  try {
    if (given instanceof File) bytes = await caseBytes(given);
  } catch (error) {
    cases = null;
    refuse(new Error(`\`${given.name}\` is no picture that this browser can read: ${error.message}`));
    return;
  }
  await send({ cases: bytes });
  if (given && !file) say(`${given.name} waits for its model.`);
  if (given && file && atOnce) await run();
}

/** Runs all cases with the options as they are. */
async function run() {
  runs += 1;
  const mine = runs;
  const stale = () => mine !== runs;
  const status = element("run-status");
  const options = chosen();
  element("save-outputs").disabled = true;
  status.textContent = "Running …";
  try {
    const about = await ask("run", options, { inputs: cases?.name ?? "", values: element("values").value });
    showSeen(about.picture);
    let took = 0;
    for (let done = 0; done < about.cases; done += 1) {
      if (stale()) return;
      if (took > 500) status.textContent = `Running case ${done + 1} of ${about.cases} …`;
      took += (await ask("step", options)).took;
    }
    if (stale()) return;
    ran = { ...await ask("outcome", options), about, options };
    if (stale()) return;
    const each = took / about.cases;
    const one = about.start === "sequence" ? "step" : "case";
    const how = { sequence: " of one sequence, which begins with a reset", fresh: ", each after a reset" }[about.start] ?? "";
    status.textContent = `${about.says && `${about.says}. `}${counted(about.cases, one)}${cases instanceof File ? "" : " of noise"}${how}, ${each < 10 ? each.toFixed(1) : Math.round(each)} ms each in the interpreter, which is slower than generated code.`;
    showOutcome();
    await showCase(ran.agreement?.failed[0] ?? 0);
    if (stale()) return;
    element("run-error").hidden = true;
    element("outcome").hidden = element("save-outputs").disabled = false;
  } catch (error) {
    if (stale()) return;
    refuse(error);
    return;
  }
  document.dispatchEvent(new Event("ran"));
}

/** Says why there is no run. */
function refuse({ message }) {
  showSeen(null);
  element("run-status").textContent = "";
  element("outcome").hidden = true;
  element("run-error").hidden = false;
  element("run-error").querySelector("pre").textContent = message;
  document.dispatchEvent(new Event("ran"));
}

/** The picture as the model sees it, if there is one. */
function showSeen(picture) {
  element("seen").hidden = !picture;
  if (!picture) return;
  const { width, channels, pixels } = picture;
  const count = pixels.length / channels;
  const [canvas, image] = [element("seen-pixels"), new ImageData(width, count / width)];
  for (let at = 0; at < count; at += 1) {
    for (let c = 0; c < 3; c += 1) image.data[4 * at + c] = pixels[channels * at + Math.min(c, channels - 1)];
    image.data[4 * at + 3] = 255;
  }
  [canvas.width, canvas.height] = [image.width, image.height];
  canvas.getContext("2d").putImageData(image, 0, 0);
}

const counted = (count, what) => `${grouped(count)} ${what}${count === 1 ? "" : "s"}`;

/** The verdict, and a slider over the cases. */
function showOutcome() {
  const { agreement, about } = ran;
  const verdict = element("verdict");
  verdict.className = agreement ? (agreement.passes ? "holds" : "fails") : "";
  verdict.hidden = !agreement && (Boolean(about.says) || !(cases instanceof File));
  verdict.replaceChildren(...agreement
    ? [make("strong", agreement.verdict), ...agreement.failures.length ? [make("ul", agreement.failures.map((text) => make("li", text)))] : []]
    : ["The file has no outputs to compare with: save them as ", make("code", "out_0"), "."]);
  element("case-choice").hidden = about.cases < 2;
  element("case").max = about.cases - 1;
}

/** The largest elements of each output of a case. */
async function showCase(index) {
  const found = await ask("case", ran.options, { case: index });
  const slider = element("case");
  slider.value = index;
  const differs = ran.agreement?.failed.includes(index) ? ", differs" : "";
  element("case-says").textContent = `${grouped(index)} (0 to ${grouped(ran.about.cases - 1)})${differs}`;
  slider.setAttribute("aria-valuetext", element("case-says").textContent);
  element("outputs").replaceChildren(...found.outputs.map((output, k) => {
    const { name, type, quantization, difference, passes } = ran.outputs[k];
    const row = (element) => bar(element, output);
    const others = output.differing.map(row);
    return make("article", [
      make("h3", [`Output ${k}: `, make("code", type)]),
      make("p", [name, quantization].filter(Boolean).join(", "), { class: "soft" }),
      ...difference ? [make("p", `All cases: ${difference}`, { class: passes ? "holds" : "fails" })] : [],
      make("ol", output.top.map(row), { "aria-label": `The largest of ${counted(output.elements, "element")}` }),
      ...others.length ? [make("p", "Others that differ", { class: "fails" }), make("ol", others)] : [],
    ]);
  }));
}

/** An element of an output: its place, a bar from zero, its value. */
function bar({ place, number, says, expected, differs }, { low, high }) {
  const range = high - low || 1;
  const at = (value) => (100 * (Math.min(high, Math.max(low, value)) - low)) / range;
  const [from, to] = [at(Math.min(0, number ?? 0)), at(Math.max(0, number ?? 0))];
  return make("li", [
    make("span", place, { class: "place" }),
    make("span", make("span", ""), { class: "track", "aria-hidden": "true", style: `--from:${from}%;--share:${to - from}%` }),
    make("span", differs ? [says, make("small", `expected ${expected}`)] : says, { class: "value" }),
  ], differs ? { class: "other" } : {});
}

element("cases").onchange = ({ target }) => {
  if (target.files[0]) takeCases(target.files[0], true);
};
element("values").onchange = () => {
  if (cases && file) run();
};
element("noise").onclick = () => takeCases("noise", true);
element("case").oninput = ({ target }) => showCase(Number(target.value));
element("save-outputs").onclick = guarded(async () => save(await ask("outputs", ran.options), `${stem()}-outputs.npz`, "application/zip"));

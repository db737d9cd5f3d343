// Does in the page what a user would do: `steps` comes from the test. What is to be seen after each step goes into a list, and to the frame around.
"use strict";
{
  // The page counts as loaded when its test has ended: a document in a frame is open until then.
  const open = document.body.appendChild(document.createElement("iframe"));
  open.hidden = true;
  open.contentDocument.open();
  const violations = [];
  document.addEventListener("securitypolicyviolation", ({ blockedURI }) => violations.push(blockedURI));
  let saved = null;
  URL.createObjectURL = (create => (blob) => {
    saved = blob;
    return create.call(URL, blob);
  })(URL.createObjectURL);
  const text = (node) => node?.textContent ?? "";

  /** The red of each pixel. Reading the canvas itself several times would be complained of. */
  const shades = (canvas) => {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    return [...copy.getImageData(0, 0, canvas.width, canvas.height).data].filter((_, at) => at % 4 === 0);
  };

  const see = async () => ({
    width: [innerWidth, document.documentElement.scrollWidth],
    status: text(element("status")),
    error: element("error").hidden ? "" : text(element("error").querySelector("pre")),
    shown: !element("result").hidden,
    costs: [...element("costs").querySelectorAll("div")].map((cell) => [...cell.children].map(text)),
    chips: [...element("chips").rows].slice(1).map((row) => [...row.cells].map(text)),
    points: [...element("points").rows].slice(1).map((row) => [...row.cells].map(text)),
    point: text(element("point")),
    titles: [...document.querySelectorAll("main h2")].map(text),
    pictures: ["#chart", ".graph", ".arena", "#pipelines svg"].map((of) => document.querySelectorAll(of).length),
    run: {
      status: text(element("run-status")),
      error: element("run-error").hidden ? "" : text(element("run-error").querySelector("pre")),
      shown: !element("outcome").hidden,
      verdict: element("verdict").hidden ? "" : text(element("verdict").querySelector("strong")),
      colour: element("verdict").className,
      failures: [...element("verdict").querySelectorAll("li")].map(text),
      case: text(element("case-says")),
      seen: element("seen").hidden ? null : shades(element("seen-pixels")),
      outputs: [...element("outputs").children].map((output) => ({
        type: text(output.querySelector("code")),
        about: [...output.querySelectorAll("p")].map(text),
        rows: [...output.querySelectorAll("li")].map((row) => [...row.children].filter((cell) => cell.className !== "track").map(text)),
        bars: [...output.querySelectorAll(".track")].map((track) => track.firstChild.getBoundingClientRect().width / track.getBoundingClientRect().width),
      })),
    },
    unnamed: [...document.querySelectorAll("button, input, select, [tabindex='0'], svg[role]")].filter((control) =>
      !(control.labels?.length || control.getAttribute("aria-label") || text(control).trim())).map((control) => control.outerHTML.slice(0, 80)),
    saved: saved ? [...new Uint8Array(await saved.arrayBuffer())] : [],
    resources: performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => !name.startsWith("blob:")),
    violations,
  });

  const once = (kind) => new Promise((resolve) => document.addEventListener(kind, resolve, { once: true }));
  const dropped = async (files, kind, place = ".drop") => {
    const data = new DataTransfer();
    for (const { name, bytes, type } of files) {
      data.items.add(new File([Uint8Array.from(atob(bytes), (letter) => letter.charCodeAt(0))], name, { type: type ?? "" }));
    }
    const done = once(kind);
    document.querySelector(place).dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    await done;
  };
  const acts = {
    drop: (file) => dropped([file], "compiled"),
    both: (files) => dropped(files, "compiled"),
    cases: (file) => dropped([file], "ran"),
    odd: (file) => dropped([file], "ran", ".cases strong"),
    async noise() {
      const done = once("ran");
      element("noise").click();
      await done;
    },
    async values(choice) {
      const done = once("ran");
      element("values").value = choice;
      element("values").dispatchEvent(new Event("change"));
      await done;
    },
    async show(index) {
      const before = text(element("case-says"));
      element("case").value = index;
      element("case").dispatchEvent(new Event("input"));
      while (text(element("case-says")) === before) await new Promise((resolve) => setTimeout(resolve, 20));
    },
    async set(options) {
      const done = once("compiled");
      Object.entries(options).forEach(([name, value]) => { form.elements[name].value = value; });
      form.elements.optimize.dispatchEvent(new Event("change", { bubbles: true }));
      await done;
    },
    async slide(index) {
      element("budget").value = index;
      element("budget").dispatchEvent(new Event("input"));
      const done = once("compiled");
      element("choose").click();
      await done;
    },
    async save(what) {
      saved = null;
      element(`save-${what}`).click();
      while (!saved) await new Promise((resolve) => setTimeout(resolve, 20));
    },
  };

  (async () => {
    const seen = [];
    try {
      for (const step of steps) {
        const [[act, argument]] = Object.entries(step);
        await acts[act](argument);
        seen.push(await see());
      }
    } catch (error) {
      seen.push({ failed: `${error.stack}` });
    }
    parent.postMessage(seen, "*");
    open.contentDocument.close();
  })();
}

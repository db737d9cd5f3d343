"use strict";
// Opens `page` in the frame, and writes what is to be seen there as JSON.
const frame = document.querySelector("iframe");

// Of a colour such as `rgb(1, 2, 3)`.
function luminance(colour) {
  const [r, g, b] = colour.match(/[\d.]+/g).map(Number).map((c) => {
    c /= 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

frame.onload = () => {
  const view = frame.contentWindow, page = frame.contentDocument;
  const all = (what) => [...page.querySelectorAll(what)];
  const style = (element) => view.getComputedStyle(element);
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const colour = style(e).backgroundColor;
      if (!colour.endsWith(", 0)")) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  for (const details of all("details")) details.open = true;
  const faint = [];
  for (const element of all("body *")) {
    const text = [...element.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
    if (!text || element.closest("script, style, title")) continue;
    const picture = element.closest("svg");
    const shape = picture && element.parentElement.querySelector(":scope > rect");
    const filled = shape && style(shape).fill !== "none";
    const back = filled ? style(shape).fill : behind(picture || element);
    if (contrast(picture ? style(element).fill : style(element).color, back) < 4.5) faint.push(text);
  }
  const buffer = all(".buffer").pop(), output = page.getElementById("buffer");
  buffer?.dispatchEvent(new view.PointerEvent("pointerenter"));
  const told = output?.textContent ?? "";
  buffer?.focus();
  document.querySelector("pre").textContent = JSON.stringify({
    width: view.innerWidth,
    scroll_width: page.documentElement.scrollWidth,
    requests: view.performance.getEntriesByType("resource").length,
    dead_links: all("a").map((a) => a.getAttribute("href")).filter((href) => !page.getElementById(href.slice(1))),
    faint,
    scripts: all("script").length,
    background: behind(page.body),
    titles: all("h2").map((title) => title.textContent),
    boxes: all("svg.graph a.step").length,
    layers: all("table.layers tbody tr").length,
    pipelines: all(".pipeline").length,
    buffers: all(".buffer").length,
    passes: all(".passes > li").length,
    claims: all(".claims > li").length,
    modes: all("#modes tbody tr").length,
    told,
    focused: buffer !== undefined && page.activeElement === buffer,
  });
};
frame.srcdoc = page;

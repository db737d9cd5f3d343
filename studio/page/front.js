// RAM against cycles: a slider over the points that nothing beats, a picture and a table of them.

const FIELD = { left: 84, top: 16, width: 520, height: 240 };

/** Draws the points; `chosen` is called with the index of the one that is pointed at. */
function drawChart(svg, points, chosen) {
  const { left, top, width, height } = FIELD;
  const [right, bottom] = [left + width, top + height];
  const most = (of) => Math.max(1, ...points.map(of));
  const [ram, cycles] = [most((p) => p.ram_bytes) * 1.05, most((p) => p.cycles) * 1.05];
  const parts = [];
  const text = (x, y, anchor, what) => parts.push(`<text class="small" x="${x}" y="${y}" text-anchor="${anchor}">${what}</text>`);
  for (let part = 0; part <= 4; part += 1) {
    const [x, y] = [left + (width * part) / 4, bottom - (height * part) / 4];
    parts.push(`<path class="axis" d="M${left} ${y}H${right}M${x} ${top}V${bottom}"/>`);
    text(x, bottom + 18, "middle", shortNumber((ram * part) / 4));
    text(left - 8, y + 4, "end", shortNumber((cycles * part) / 4));
  }
  text(left + width / 2, bottom + 38, "middle", "bytes of RAM");
  parts.push(`<text class="small" text-anchor="middle" transform="translate(16 ${top + height / 2}) rotate(-90)">predicted cycles</text>`);
  points.forEach((point, index) => {
    const [x, y] = [left + (width * point.ram_bytes) / ram, bottom - (height * point.cycles) / cycles];
    parts.push(`<circle data-index="${index}" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="7"><title>${describePoint(point)}</title></circle>`);
  });
  svg.setAttribute("viewBox", `0 0 ${right + 24} ${bottom + 48}`);
  svg.setAttribute("width", right + 24);
  svg.innerHTML = parts.join("");
  svg.onclick = ({ target }) => { if (target.dataset.index) chosen(Number(target.dataset.index)); };
}

/** A number with commas between groups of three digits. */
function grouped(number) {
  return Math.round(number).toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A quantity in three significant digits; whole numbers from 100 on. */
function significant(quantity) {
  return quantity >= 99.95 ? grouped(quantity) : quantity.toPrecision(3);
}

/** For an axis. */
function shortNumber(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)} M`;
  return number >= 1e4 ? `${Math.round(number / 1e3)} k` : grouped(number);
}

/** The options of a point: names and values that the compiler has. */
function optionsOf(point) {
  return Object.entries(point.options).map(([name, value]) => `${name} = ${value}`).join(", ") || "as chosen";
}

/** A point in words. */
function describePoint(point) {
  return `${grouped(point.ram_bytes)} B of RAM, ${grouped(point.cycles)} cycles, ${grouped(point.constant_bytes)} B of constants: ${optionsOf(point)}`;
}

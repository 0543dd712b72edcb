// Draws the page's numbers and answers its controls. No library, no network, nothing is stored.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const state = { channel: 0, window: 0, fan: 0, from: 0, to: 0 };

  // ---- numbers and words -------------------------------------------------------------------
  const finite = (values) => values.filter((v) => v !== null);
  const number = (v) => (v === null ? "missing" : String(Number(v.toPrecision(4))).replace("-", "−"));
  const clamp = (v, low, high) => Math.min(Math.max(v, low), high);
  const span = (lines) => {
    let low = Infinity, high = -Infinity;
    for (const line of lines) for (const v of line) if (v !== null) { if (v < low) low = v; if (v > high) high = v; }
    if (low > high) return [0, 1];
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    return [low - room, high + room];
  };
  const ticks = (low, high, most) => {
    const raw = (high - low) / most, size = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((k) => k * size).find((s) => s >= raw);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  };
  const say = (id, text) => { if ($(id).textContent !== text) $(id).textContent = text; };

  // ---- a chart -----------------------------------------------------------------------------
  function add(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }
  // Of more steps than pixels the least and the greatest value per pixel are drawn.
  function path(values, first, x, y, width) {
    const per = Math.max(1, Math.floor(values.length / (2 * width)));
    let out = "", up = true;
    const point = (i) => { out += `${up ? "M" : "L"}${x(first + i).toFixed(1)},${y(values[i]).toFixed(1)}`; up = false; };
    for (let i = 0; i < values.length; i += per) {
      if (per === 1) { if (values[i] === null) up = true; else point(i); continue; }
      let low = -1, high = -1;
      for (let j = i; j < Math.min(i + per, values.length); j++) {
        if (values[j] === null) continue;
        if (low < 0 || values[j] < values[low]) low = j;
        if (high < 0 || values[j] > values[high]) high = j;
      }
      if (low < 0) up = true; else for (const k of [Math.min(low, high), Math.max(low, high)]) point(k);
    }
    return out;
  }
  // spec: lines [{y, first, kind}], bands [{low, high, first, kind}], from, to, range, label(i), height, mark
  function chart(id, spec) {
    const box = $(id), width = Math.max(box.clientWidth, 220), height = spec.height || 190;
    const left = 52, right = 8, top = 8, bottom = 24;
    const [low, high] = spec.range;
    const x = (i) => left + ((i - spec.from) / Math.max(spec.to - spec.from, 1e-9)) * (width - left - right);
    const y = (v) => height - bottom - ((v - low) / (high - low)) * (height - top - bottom);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("aria-hidden", "true");
    for (const v of ticks(low, high, 4)) {
      add(svg, "line", { x1: left, x2: width - right, y1: y(v), y2: y(v), class: "rule" });
      add(svg, "text", { x: left - 6, y: y(v) + 4, class: "tick end" }, number(v));
    }
    const tick = spec.tick || spec.label;
    const room = 3.4 * Math.max(tick(spec.from).length, tick(spec.to).length);
    const most = Math.max(1, Math.floor((width - left - right) / (2 * room + 18)));
    let free = left; // ticks that would touch the one before are left out
    for (const i of ticks(spec.from, spec.to, most)) {
      const middle = Math.min(x(i), width - right - room), begin = i === spec.from ? left : middle - room;
      if (!Number.isInteger(i) || begin < free) continue;
      add(svg, "text", { x: i === spec.from ? left : middle, y: height - 7, class: i === spec.from ? "tick" : "tick middle" }, tick(i));
      free = begin + 2 * room + 10;
    }
    if (spec.split !== undefined) add(svg, "line", { x1: x(spec.split), x2: x(spec.split), y1: top, y2: height - bottom, class: "now" });
    for (const band of spec.bands || []) {
      const edge = (values) => values.map((v, i) => `${x(band.first + i).toFixed(1)},${y(v).toFixed(1)}`);
      add(svg, "polygon", { points: [...edge(band.high), ...edge(band.low).reverse()].join(" "), class: band.kind });
    }
    for (const one of spec.lines) add(svg, "path", { d: path(one.y, one.first || 0, x, y, width), class: `line ${one.kind}` });
    const cross = add(svg, "line", { y1: top, y2: height - bottom, class: "cross", visibility: "hidden" });
    const hint = add(svg, "text", { y: top + 9, class: "hint" });
    const at = (event) => {
      const rect = svg.getBoundingClientRect();
      return spec.from + (((event.clientX - rect.left) / rect.width) * width - left) / (width - left - right) * (spec.to - spec.from);
    };
    svg.addEventListener("pointermove", (event) => {
      const i = Math.round(clamp(at(event), spec.from, spec.to));
      const told = spec.lines.filter((one) => one.name && one.y[i - (one.first || 0)] !== undefined)
        .map((one) => `${one.name} ${number(one.y[i - (one.first || 0)])}`);
      if (!told.length) return;
      cross.setAttribute("x1", x(i)); cross.setAttribute("x2", x(i)); cross.setAttribute("visibility", "visible");
      hint.textContent = `${spec.label(i)}: ${told.join(", ")}`;
      const late = x(i) > width / 2;
      hint.setAttribute("x", x(i) + (late ? -6 : 6)); hint.setAttribute("class", late ? "hint end" : "hint");
    });
    svg.addEventListener("pointerleave", () => { cross.setAttribute("visibility", "hidden"); hint.textContent = ""; });
    box.replaceChildren(svg);
    return { at, svg };
  }

  // ---- windows -----------------------------------------------------------------------------
  const count = data.synthetic[0].length, steps = data.synthetic[0][0].length;
  function windows() {
    const c = state.channel, w = state.window, pairs = data.real && $("pair-nearest").checked;
    const real = data.real ? (pairs ? data.nearest : data.real)[c] : null, synthetic = data.synthetic[c];
    const range = span([...(data.real ? data.real[c] : []), ...(real || []), ...synthetic]);
    const draw = (id, all, kind) => chart(id, { from: 0, to: steps - 1, range, label: (i) => `step ${i}`,
      lines: [...all.map((y) => ({ y, kind: `${kind} faint` })), { y: all[w], kind: `${kind} bold`, name: kind }] });
    if (real) draw("real-window", real, "real");
    draw("synthetic-window", synthetic, "synthetic");
    $("window").value = w;
    const reach = (line) => `${number(Math.min(...finite(line)))} to ${number(Math.max(...finite(line)))}`;
    say("window-words", `Window ${w + 1} of ${count}, ${data.channels[c]}: ` +
      (real ? `${pairs ? "nearest real" : "real"} ${reach(real[w])}, ` : "") + `synthetic ${reach(synthetic[w])}.`);
    $("window").setAttribute("aria-valuetext", `window ${w + 1} of ${count}`);
  }
  function leaf(to) { state.window = (to + count) % count; windows(); }

  // ---- whole series ------------------------------------------------------------------------
  const whole = data.whole;
  const total = whole ? whole.values[0].length : 0;
  const LEAST = 8;
  function stamp(line, i) {
    if (!line.stamps) return `step ${i}`;
    return line.stamps[clamp(Math.round(i), 0, line.stamps.length - 1)];
  }
  function series() {
    if (!whole) return;
    const c = state.channel, { from, to } = state, made = whole.values[c], real = data.beside && data.beside.values[c];
    const range = span(real ? [made, real] : [made]);
    const part = (values) => values.slice(from, to + 1);
    const day = (text) => text.split(" ")[0]; // over several days the time of day says little
    const days = day(stamp(whole, from)) !== day(stamp(whole, Math.min(from + (to - from) / 4, to)));
    const draw = (id, line, values, kind) => {
      const { at, svg } = chart(id, { from, to, range, height: 170, label: (i) => stamp(line, i),
        tick: (i) => (line.stamps && days ? day(stamp(line, i)) : stamp(line, i)),
        lines: [{ y: part(values), first: from, kind: `${kind} ${to - from > 300 ? "fine" : "bold"}`, name: kind }] });
      drag(svg, at);
    };
    draw("synthetic-series", whole, made, "synthetic");
    if (real) draw("real-series", data.beside, real, "real");
    $("place").max = Math.max(total - 1 - (to - from), 0); $("place").value = from;
    const words = `${to - from + 1} of ${total} steps, from ${stamp(whole, from)} to ${stamp(whole, to)}`;
    $("place").setAttribute("aria-valuetext", words);
    say("series-words", `${data.channels[c]}: ${words}.`);
    $("zoom-in").disabled = to - from + 1 <= LEAST;
    $("zoom-out").disabled = $("whole").disabled = from === 0 && to === total - 1;
    $("earlier").disabled = from === 0; $("later").disabled = to === total - 1; $("place").disabled = $("whole").disabled;
  }
  function look(from, size) {
    size = clamp(Math.round(size), Math.min(LEAST, total), total);
    state.from = clamp(Math.round(from), 0, total - size);
    state.to = state.from + size - 1;
    series();
  }
  const width = () => state.to - state.from + 1;
  const zoom = (factor, centre) => {
    const middle = centre === undefined ? (state.from + state.to) / 2 : centre;
    look(middle - (middle - state.from) * factor, width() * factor);
  };
  const move = (share) => look(state.from + share * width(), width());
  function drag(svg, at) { // a drag chooses what to zoom into
    let begun = null, shade = null;
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch") return; // fingers scroll; buttons zoom
      begun = at(event); svg.setPointerCapture(event.pointerId);
      shade = add(svg, "rect", { y: 8, height: 138, width: 0, x: 0, class: "shade" });
    });
    svg.addEventListener("pointermove", (event) => {
      if (begun === null) return;
      const box = svg.getBoundingClientRect(), here = event.clientX - box.left;
      const scale = svg.viewBox.baseVal.width / box.width, usable = svg.viewBox.baseVal.width - 60;
      const there = 52 + ((begun - state.from) / Math.max(state.to - state.from, 1)) * usable;
      shade.setAttribute("x", Math.min(here * scale, there)); shade.setAttribute("width", Math.abs(here * scale - there));
    });
    svg.addEventListener("pointerup", (event) => {
      if (begun === null) return;
      const [a, b] = [begun, at(event)].sort((p, q) => p - q);
      begun = null;
      if (b - a >= 1) look(a, b - a + 1); else shade.remove();
    });
  }
  const KEYS = { ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25), "+": () => zoom(0.5), "=": () => zoom(0.5),
    "-": () => zoom(2), Home: () => look(0, width()), End: () => look(total, width()), "0": () => look(0, total) };

  // ---- forecasts ---------------------------------------------------------------------------
  const fans = data.fans;
  function forecast() {
    if (!fans) return;
    const c = state.channel, n = state.fan, truth = fans.truth[c][n], bands = fans.bands[c][n], seen = fans.seen;
    const join = (values) => [truth[seen - 1], ...values], length = truth.length;
    const draws = $("show-draws").checked ? fans.draws[c][n] : [];
    const lines = draws.map((y) => ({ y: join(y), first: seen - 1, kind: "synthetic thin" }));
    lines.push({ y: truth.slice(0, seen), kind: "real bold", name: "observed" });
    if ($("show-truth").checked) lines.push({ y: truth.slice(seen - 1), first: seen - 1, kind: "real bold dotted", name: "what came" });
    lines.push({ y: join(bands[2]), first: seen - 1, kind: "synthetic bold", name: "median" });
    const band = (a, b, kind) => ({ low: join(bands[a]), high: join(bands[b]), first: seen - 1, kind });
    chart("fan", { from: 0, to: length - 1, range: span([truth, ...bands, ...fans.draws[c][n]]), height: 260, split: seen - 1,
      label: (i) => (i < seen ? `step ${i}` : `+${i - seen + 1}`), lines, bands: [band(0, 4, "band"), band(1, 3, "band inner")] });
    const inside = truth.slice(seen).filter((v, i) => v >= bands[0][i] && v <= bands[4][i]).length;
    $("fan-number").value = n;
    $("fan-number").setAttribute("aria-valuetext", `forecast ${n + 1} of ${fans.truth[c].length}`);
    say("fan-words", `Forecast ${n + 1} of ${fans.truth[c].length}, ${data.channels[c]}` +
      (fans.starts ? `, from ${fans.starts[n]}` : "") + `: ${inside} of ${length - seen} values that came lie in the middle 80 %.`);
  }
  function turn(to) { const all = fans.truth[0].length; state.fan = (to + all) % all; forecast(); }

  // ---- spectra and the like ----------------------------------------------------------------
  function curves() {
    const found = data.curves[state.channel], kinds = ["synthetic bold", "real bold dotted"], names = ["synthetic", "real"];
    const lines = (both) => both.map((y, k) => ({ y, kind: kinds[k], name: names[k] })).reverse();
    const draw = (id, both, label) => chart(id, { from: 0, to: both[0].length - 1, range: span(both), label, lines: lines(both) });
    draw("power", found.power, (i) => `bin ${i}`);
    draw("lags", found.lags, (i) => `lag ${i}`);
    const edges = found.edges;
    draw("shares", found.shares, (i) => number(edges[clamp(Math.round(i), 0, edges.length - 1)]));
    const apart = (both, unit) => {
      if (both.length < 2) return "";
      const gaps = both[0].map((v, i) => Math.abs(v - both[1][i]));
      return ` Largest difference ${number(Math.max(...gaps))}${unit}.`;
    };
    say("power-words", `Power spectrum of ${data.channels[state.channel]} in decibels, bin 0 is the level.${apart(found.power, " dB")}`);
    say("lags-words", `Autocorrelation by lag.${apart(found.lags, "")}`);
    say("shares-words", `Share of values, from the least to the greatest.${apart(found.shares, "")}`);
  }

  // ---- controls ----------------------------------------------------------------------------
  const on = (id, what, act) => { if ($(id)) $(id).addEventListener(what, act); };
  on("channel", "change", (event) => { state.channel = Number(event.target.value); draw(); });
  on("previous", "click", () => leaf(state.window - 1));
  on("next", "click", () => leaf(state.window + 1));
  on("window", "input", (event) => leaf(Number(event.target.value)));
  on("pair-any", "change", windows);
  on("pair-nearest", "change", windows);
  on("zoom-in", "click", () => zoom(0.5));
  on("zoom-out", "click", () => zoom(2));
  on("earlier", "click", () => move(-0.5));
  on("later", "click", () => move(0.5));
  on("whole", "click", () => look(0, total));
  on("place", "input", (event) => look(Number(event.target.value), width()));
  on("series-charts", "keydown", (event) => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? undefined : KEYS[event.key];
    if (act) { act(); event.preventDefault(); }
  });
  on("fan-previous", "click", () => turn(state.fan - 1));
  on("fan-next", "click", () => turn(state.fan + 1));
  on("fan-number", "input", (event) => turn(Number(event.target.value)));
  on("show-draws", "change", forecast);
  on("show-truth", "change", forecast);

  function draw() { windows(); series(); forecast(); curves(); }
  state.to = Math.max(total - 1, 0);
  let known = 0;
  new ResizeObserver(() => {
    const now = document.documentElement.clientWidth;
    if (now !== known) { known = now; draw(); }
  }).observe(document.documentElement);
  draw();
  document.documentElement.dataset.ready = "yes";
})();

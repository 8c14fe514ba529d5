// Charts. <figure data-chart> holds the figures as JSON and a table of the same; here they are drawn, in the colours and the
// language of the page, and again whenever either or the size changes. A point opens the decisions behind it; for keys and
// screen readers the table has the same links. Nothing here writes a style into markup: tooltips are made of elements.

import { init } from "./vendor/echarts/echarts.min.mjs";

const page = document.documentElement;
const language = page.lang;
const still = matchMedia("(prefers-reduced-motion: reduce)");
const dark = matchMedia("(prefers-color-scheme: dark)");
const TONES = ["primary", "accent", "success", "warning", "info", "secondary", "error"];
const drawn = new Map();

/** A colour of the sheet as the canvas understands it. */
function colour(name) {
  const probe = document.createElement("span");
  probe.hidden = true;
  probe.style.color = `var(--${name})`;
  document.body.append(probe);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const ink = canvas.getContext("2d", { willReadFrequently: true });
  ink.fillStyle = getComputedStyle(probe).color;
  ink.fillRect(0, 0, 1, 1);
  probe.remove();
  const [red, green, blue] = ink.getImageData(0, 0, 1, 1).data;
  return `rgb(${red}, ${green}, ${blue})`;
}

function palette() {
  const found = { text: colour("color-base-content"), muted: colour("muted"), line: colour("line"), paper: colour("color-base-100") };
  for (const tone of TONES) found[tone] = colour(`color-${tone}`);
  return found;
}

const plain = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
const short = new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 });

/** A figure as the page's language writes it. */
export function said(value, unit, currency, words) {
  if (value === null || value === undefined || Number.isNaN(value)) return words.unknown;
  if (unit === "percent") return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(value);
  if (unit === "seconds") {
    const small = Math.abs(value) < 1;
    const number = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(small ? value * 1000 : value);
    return words[small ? "ms" : "s"].replace("%(number)s", number);
  }
  if (unit === "money") {
    const amount = new Intl.NumberFormat(language, { maximumSignificantDigits: 3 }).format(value);
    return currency ? `${amount} ${currency}` : amount;
  }
  return plain.format(value);
}

function brief(value, unit, words) {
  if (unit === "percent") return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }).format(value);
  return unit === "count" ? short.format(value) : unit === "seconds" ? said(value, unit, "", words) : new Intl.NumberFormat(language, { maximumSignificantDigits: 2 }).format(value);
}

function toneOf(series, number, colours) {
  return colours[series.tone] ?? colours[TONES[number % TONES.length]];
}

function element(tag, text, css) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  if (css) made.className = css;
  return made;
}

/** The box beside the pointer: a heading and a line for each series. */
function tip(spec, colours) {
  return (points) => {
    const list = Array.isArray(points) ? points : [points];
    const box = element("div", undefined, "chart-tip");
    box.append(element("p", list[0].axisValueLabel ?? list[0].name, "chart-tip-title"));
    for (const point of list) {
      const series = spec.series[point.seriesId];
      if (!series) continue;
      const row = element("p", undefined, "chart-tip-row");
      const mark = element("span", undefined, "chart-tip-mark");
      mark.style.background = toneOf(series, Number(point.seriesId), colours);
      const at = point.dataIndex;
      let text = said(series.values[at], spec.unit, spec.currency, spec.words);
      if (series.low[at] != null) {
        text += ` (${said(series.low[at], spec.unit, "", spec.words)} – ${said(series.high[at], spec.unit, "", spec.words)})`;
      }
      row.append(mark, element("span", series.name), element("strong", text));
      box.append(row);
    }
    return box;
  };
}

function base(spec, colours) {
  return {
    animation: !still.matches,
    animationDuration: 250,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: colours.text },
    aria: { enabled: false },
    grid: { left: 8, right: 16, top: spec.series.length > 1 ? 40 : 16, bottom: 8, containLabel: true },
    legend: spec.series.length > 1 ? { type: "scroll", top: 0, left: 0, itemWidth: 12, itemHeight: 8, textStyle: { color: colours.text }, pageTextStyle: { color: colours.muted }, pageIconColor: colours.primary, pageIconInactiveColor: colours.line } : undefined,
    tooltip: {
      trigger: "axis",
      renderMode: "html",
      appendTo: document.body,
      confine: true,
      transitionDuration: 0,
      className: "chart-tip-frame",
      backgroundColor: colours.paper,
      borderColor: colours.line,
      textStyle: { color: colours.text },
      axisPointer: { type: spec.kind === "lines" ? "line" : "shadow", lineStyle: { color: colours.muted } },
      formatter: tip(spec, colours),
    },
  };
}

function axes(spec, colours, across) {
  const names = { type: "category", data: spec.categories, axisTick: { show: false }, axisLine: { lineStyle: { color: colours.line } }, axisLabel: { color: colours.muted, hideOverlap: true, width: across ? 180 : undefined, overflow: "break" }, inverse: across };
  const values = { type: "value", max: spec.unit === "percent" && spec.kind !== "steps" && !across ? 1 : undefined, splitLine: { lineStyle: { color: colours.line } }, axisLabel: { color: colours.muted, formatter: (value) => brief(value, spec.unit, spec.words), hideOverlap: true } };
  return across ? { xAxis: values, yAxis: names } : { xAxis: names, yAxis: values };
}

/** Bounds as thin lines beside the bars or points. */
function bounds(series, number, colours, across) {
  if (!series.low.length) return [];
  const pairs = series.low.map((low, at) => (low === null ? null : [at, low, series.high[at]])).filter(Boolean);
  return [
    {
      type: "line",
      silent: true,
      data: [],
      tooltip: { show: false },
      markLine: {
        silent: true,
        symbol: ["none", "none"],
        animation: false,
        lineStyle: { color: colours.text, width: 1.5, type: "solid", opacity: 0.7 },
        data: pairs.map(([at, low, high]) => (across ? [{ coord: [low, at] }, { coord: [high, at] }] : [{ coord: [at, low] }, { coord: [at, high] }])),
      },
    },
  ];
}

function aim(spec, colours) {
  if (spec.aim === null) return undefined;
  return { silent: true, symbol: "none", animation: false, lineStyle: { color: colours.error, type: "dashed", width: 1.5 }, label: { formatter: `${spec.words.aim} ${brief(spec.aim, spec.unit, spec.words)}`, position: "insideEndTop", color: colours.error }, data: [{ yAxis: spec.aim }] };
}

function cartesian(spec, colours) {
  const across = spec.kind === "rows";
  const line = spec.kind === "lines";
  const series = spec.series.flatMap((one, number) => [
    {
      id: String(number),
      name: one.name,
      type: line ? "line" : "bar",
      stack: spec.kind === "stack" ? "all" : undefined,
      data: one.values,
      connectNulls: false,
      showSymbol: one.values.length < 40,
      symbolSize: 7,
      barMaxWidth: across ? 22 : 46,
      itemStyle: { color: toneOf(one, number, colours) },
      lineStyle: { width: 2 },
      cursor: one.links.length ? "pointer" : "default",
      markLine: number === 0 ? aim(spec, colours) : undefined,
    },
    ...bounds(one, number, colours, across),
  ]);
  return { ...base(spec, colours), ...axes(spec, colours, across), series };
}

/** Steps from one level to another: whole bars are levels, hanging ones what is lost between them. */
function steps(spec, colours) {
  const values = spec.series[0].values;
  let level = 0;
  const under = [];
  const shown = values.map((value) => {
    if (value > 0 || level === 0) {
      level = value;
      under.push(0);
      return { value, itemStyle: { color: colours.primary } };
    }
    level += value;
    under.push(level);
    return { value: -value, itemStyle: { color: colours.warning } };
  });
  return {
    ...base(spec, colours),
    ...axes({ ...spec, kind: "rows" }, colours, true),
    series: [
      { type: "bar", stack: "all", data: under, silent: true, itemStyle: { color: "transparent" }, tooltip: { show: false } },
      { id: "0", name: spec.series[0].name, type: "bar", stack: "all", data: shown, barMaxWidth: 22 },
    ],
  };
}

function flow(spec, colours) {
  const ends = spec.series.map((one, number) => ({ name: `→ ${one.name}`, itemStyle: { color: toneOf(one, number, colours) }, label: { position: "left" } }));
  const starts = spec.categories.map((name, number) => ({ name, itemStyle: { color: colours[TONES[number % TONES.length]] } }));
  const links = spec.series.flatMap((one) => one.values.map((value, at) => ({ source: spec.categories[at], target: `→ ${one.name}`, value, url: one.links[at] })).filter((link) => link.value > 0));
  const frame = base({ ...spec, series: [] }, colours);
  return {
    ...frame,
    tooltip: {
      ...frame.tooltip,
      trigger: "item",
      formatter: (point) => {
        const box = element("div", undefined, "chart-tip");
        const name = point.dataType === "edge" ? `${point.data.source} ${point.data.target}` : point.name;
        const row = element("p", undefined, "chart-tip-row");
        row.append(element("span", name), element("strong", said(point.value, spec.unit, spec.currency, spec.words)));
        box.append(row);
        return box;
      },
    },
    series: [{ type: "sankey", animationDuration: 250, left: 8, right: 8, top: 8, bottom: 8, nodeGap: 12, draggable: false, emphasis: { focus: "adjacency" }, data: [...starts, ...ends], links, label: { color: colours.text }, lineStyle: { color: "source", opacity: 0.3 } }],
  };
}

function draw(figure) {
  const spec = drawn.get(figure).spec;
  const colours = palette();
  const option = spec.kind === "flow" ? flow(spec, colours) : spec.kind === "steps" ? steps(spec, colours) : cartesian(spec, colours);
  drawn.get(figure).chart.setOption(option, { notMerge: true });
}

function open(spec, point) {
  const url = point.dataType === "edge" ? point.data.url : spec.series[point.seriesId]?.links[point.dataIndex];
  if (url) location.assign(url);
}

function begin(figure) {
  const spec = JSON.parse(figure.querySelector("script[type='application/json']").textContent);
  const canvas = figure.querySelector("[data-canvas]");
  canvas.hidden = false;
  const across = spec.kind === "rows" || spec.kind === "steps";
  canvas.style.height = across ? `${Math.max(9, 3 + spec.categories.length * (spec.series.length > 1 ? 3 : 2.25))}rem` : "17rem";
  const chart = init(canvas, null, { renderer: "canvas", locale: language === "tr" ? "TR" : "EN" });
  drawn.set(figure, { spec, chart });
  chart.on("click", (point) => open(spec, point));
  draw(figure);
  new ResizeObserver(() => chart.resize()).observe(canvas);
  figure.dataset.chart = "drawn";
}

function again() {
  for (const figure of drawn.keys()) draw(figure);
}

for (const figure of document.querySelectorAll("[data-chart]")) {
  try {
    begin(figure);
  } catch (error) {
    figure.dataset.chart = "failed"; // the table under it still says everything
    figure.querySelector("details")?.setAttribute("open", "");
    console.warn(error);
  }
}
new MutationObserver(again).observe(page, { attributes: true, attributeFilter: ["data-theme"] });
dark.addEventListener("change", again);
still.addEventListener("change", again);

// Draws every chart in the colours of the page, and again when those change.
(() => {
  "use strict";
  const root = document.documentElement;
  const within = (part) => [...part.querySelectorAll(".chart")].map((element) => ({
    element,
    get figure() { return JSON.parse(element.nextElementSibling.textContent); },
    fold: element.closest("details"),
  }));
  const isSeen = ({ fold }) => !fold || fold.open;
  let charts = within(document);

  // Puts the value of a CSS variable wherever a figure names one.
  const themed = (value, style) => {
    if (typeof value === "string") {
      return value.startsWith("var(") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value.at(-1) === "number" ? value : value.map((item) => themed(item, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item, style)]));
    }
    return value;
  };

  // How wide a letter of a label is, and how high a line of them, in pixels at the size in which charts are written.
  const LETTER = 6.6;
  const LINE = 15;
  // So many letters has a number along an axis, with what parts it from the next: `10,000`.
  const NUMBER = 8;
  // A chart is made higher until what is drawn has so much of its height.
  const PLOT_LEAST = 190;

  // A name in lines of so many letters at most, broken after spaces, commas and equals signs.
  const broken = (name, letters) => name.split(/(?<=[ ,=])/).reduce((lines, word) => {
    const longer = `${lines.at(-1)}${word}`;
    return longer.trim().length <= letters ? [...lines.slice(0, -1), longer] : [...lines, word];
  }, [""]).filter(Boolean).join("<br>");

  // Labels along the axis that would run into each other: names are broken into lines, of numbers some are left out.
  const fit = (layout, room, isNamed) => {
    const { tickvals, ticktext, type, dtick, range } = layout.xaxis ?? {};
    if (!tickvals) {
      // Of labels that Plotly makes it is known how many digits they may have.
      const most = Math.max(2, Math.floor(room / (NUMBER * LETTER)));
      layout.xaxis.nticks = Math.min(layout.xaxis.nticks || most, most);
      const places = dtick ? (range[1] - range[0]) / dtick : 0;
      if (places * LETTER * (String(Math.ceil(range?.[1])).length + 1) > room) delete layout.xaxis.dtick;
      return;
    }
    if (tickvals.length < 2) return;
    layout.xaxis.tickangle = 0;
    if (isNamed) {
      const letters = Math.floor(room / tickvals.length / LETTER) - 1;
      layout.xaxis.ticktext = ticktext.map((name) => broken(name, letters));
      return;
    }
    const places = tickvals.map((value) => (type === "log" ? Math.log10(value) : value));
    const last = places.length - 1;
    const scale = room / 1.1 / (Math.max(...places) - Math.min(...places));
    const isApart = (i, j) => Math.abs(places[i] - places[j]) * scale > (ticktext[i].length + ticktext[j].length + 2) * LETTER / 2;
    const kept = [0];
    for (let i = 1; i < last; i += 1) if (isApart(i, kept.at(-1)) && isApart(i, last)) kept.push(i);
    if (isApart(0, last)) kept.push(last);
    layout.xaxis.tickvals = kept.map((i) => tickvals[i]);
    layout.xaxis.ticktext = kept.map((i) => ticktext[i]);
  };

  // A number above the plot that would touch the one before it stands a line higher.
  const stagger = ({ annotations = [], xaxis }, room) => {
    let last = null;
    for (const note of annotations.filter(({ yanchor }) => yanchor === "bottom")) {
      const apart = last ? ((note.x - last.x) * room) / (xaxis.range[1] - xaxis.range[0]) : Infinity;
      if (apart < (note.text.length + 1) * LETTER && !last.yshift) note.yshift = LINE;
      last = note;
    }
  };

  const draw = ({ element, figure }) => {
    const { data, layout, config } = themed(figure, getComputedStyle(root));
    // On a touch screen a drag scrolls the page; elsewhere it zooms, and a double click zooms out.
    layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    layout.width = element.clientWidth;
    fit(layout, element.clientWidth - 70, element.dataset.along === "names");
    stagger(layout, element.clientWidth - 70);
    // Shares span factors of ten: so do their colours.
    for (const trace of data.filter(({ type }) => type === "heatmap")) {
      trace.customdata = trace.z;
      trace.z = trace.z.map((row) => row.map((share) => (share === null ? null : Math.log10(share))));
    }
    if ("paper" in root.dataset) {
      layout.height -= 80;
      layout.font.size = 10;
    }
    return Plotly.react(element, data, layout, config).then(() => {
      const missing = PLOT_LEAST - element._fullLayout._size.h;
      if (missing > 0 && !("paper" in root.dataset)) return Plotly.relayout(element, { height: layout.height + missing });
    });
  };
  // A click on a point leads to its row in the tables of its step.
  const lead = (element) => element.on("plotly_click", ({ points }) => {
    const place = `${element.closest("section").id}:${points[0].customdata}`;
    if (document.getElementById(place)) location.hash = place;
  });
  const drawAll = () => charts.filter(isSeen).forEach(draw);

  let width = root.clientWidth;
  addEventListener("resize", () => {
    if (root.clientWidth !== width) {
      width = root.clientWidth;
      drawAll();
    }
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  // A part of the page that was put in place of an earlier one has charts of its own.
  addEventListener("replaced", (event) => {
    const fresh = within(event.target);
    charts = charts.filter(({ element }) => element.isConnected).concat(fresh);
    fresh.forEach(begin);
  });
  addEventListener("beforeprint", () => { root.dataset.paper = ""; drawAll(); });
  addEventListener("afterprint", () => { delete root.dataset.paper; drawAll(); });

  // What is folded away has no width: it is drawn when it is opened.
  const begin = (chart) => {
    if (isSeen(chart)) {
      draw(chart);
      lead(chart.element);
    } else {
      chart.fold.addEventListener("toggle", () => begin(chart), { once: true });
    }
  };

  // One chart at a time, so that the page answers while it is drawn.
  const next = (place) => {
    if (place < charts.length) {
      begin(charts[place]);
      setTimeout(next, 0, place + 1);
    }
  };
  next(0);
})();

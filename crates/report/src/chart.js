// Draws every chart in the colours of the page, and again when those change.
(() => {
  "use strict";
  const root = document.documentElement;
  const within = (part) => [...part.querySelectorAll(".chart")].map((element) => ({
    element,
    figure: JSON.parse(element.nextElementSibling.textContent),
  }));
  let charts = within(document);

  // Puts the value of a CSS variable wherever a figure names one.
  const themed = (value, style) => {
    if (typeof value === "string") {
      return value.startsWith("var(") ? style.getPropertyValue(value.slice(4, -1)).trim() : value;
    }
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((item) => themed(item, style));
    }
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, themed(item, style)]));
    }
    return value;
  };

  const draw = ({ element, figure }) => {
    const { data, layout, config } = themed(figure, getComputedStyle(root));
    // On a touch screen a drag scrolls the page; elsewhere it zooms, and a double click zooms out.
    layout.dragmode = matchMedia("(pointer: coarse)").matches ? false : "zoom";
    layout.width = element.clientWidth;
    if ("paper" in root.dataset) {
      layout.height -= 80;
      layout.font.size = 10;
    }
    return Plotly.react(element, data, layout, config);
  };
  const drawAll = () => charts.forEach(draw);

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
    fresh.forEach(draw);
  });
  addEventListener("beforeprint", () => { root.dataset.paper = ""; drawAll(); });
  addEventListener("afterprint", () => { delete root.dataset.paper; drawAll(); });

  // One chart at a time, so that the page answers while it is drawn.
  const next = (place) => {
    if (place < charts.length) {
      draw(charts[place]);
      setTimeout(next, 0, place + 1);
    }
  };
  next(0);
})();

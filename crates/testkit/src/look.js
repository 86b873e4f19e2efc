// What is wrong with how the page looks: a sentence for each thing, none where all is well.
(() => {
  const said = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) said.add(`the page is ${root.scrollWidth - root.clientWidth} px wider than its window`);

  // Colours as a browser mixes them: red, green, blue of 255 and alpha of 1.
  const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const mixed = new Map();
  const rgba = (color) => {
    if (!mixed.has(color)) {
      pixel.clearRect(0, 0, 1, 1);
      pixel.fillStyle = color;
      pixel.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = pixel.getImageData(0, 0, 1, 1).data;
      mixed.set(color, [r, g, b, a / 255]);
    }
    return mixed.get(color);
  };
  const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
  const papers = new Map();
  const paper = (element) => {
    if (!element) return [255, 255, 255];
    if (!papers.has(element)) papers.set(element, over(rgba(getComputedStyle(element).backgroundColor), paper(element.parentElement)));
    return papers.get(element);
  };
  // Contrast by WCAG 2.2, "relative luminance" and "contrast ratio".
  const luminance = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const CONTRAST_LEAST = 4.5;

  // Each line of text as a box of what is seen of it.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    const words = node.data.trim().slice(0, 40);
    if (!words || element.closest("script, style, noscript, option, .hidden, .skip")) continue;
    if (!element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const chart = element.closest("svg") && element.closest(".chart");
    const ink = rgba(chart ? style.fill : style.color);
    const under = paper(chart ?? element);
    const ratio = contrast(over(ink, under), under);
    if (ratio < CONTRAST_LEAST) said.add(`"${words}" has a contrast of ${ratio.toFixed(2)}`);
    const range = document.createRange();
    range.selectNodeContents(node);
    const lines = chart ? [element.getBoundingClientRect()] : [...range.getClientRects()];
    for (const line of lines) {
      let { left, right } = line;
      for (let around = element; around !== document.body; around = around.parentElement) {
        if (chart && around === chart) break;
        const { overflowX, textOverflow } = getComputedStyle(around);
        if (around instanceof SVGElement || overflowX === "visible") continue;
        const frame = around.getBoundingClientRect();
        const isCut = overflowX !== "auto" && overflowX !== "scroll" && textOverflow !== "ellipsis";
        if (isCut && (left < frame.left - 2 || right > frame.right + 2)) said.add(`"${words}" is cut`);
        [left, right] = [Math.max(left, frame.left), Math.min(right, frame.right)];
      }
      if (right - left < 1) continue;
      if (left < -1 || right > root.clientWidth + 1) said.add(`"${words}" is outside the page`);
      const frame = chart?.getBoundingClientRect();
      if (frame && (left < frame.left - 2 || right > frame.right + 2 || line.bottom > frame.bottom + 2)) said.add(`"${words}" is outside its chart`);
      // What sticks lies over what scrolls below it.
      const isStuck = Boolean(element.closest("th, caption, .bar") && getComputedStyle(element.closest("th, caption, .bar")).position === "sticky");
      // The ink of a line is less high than its box.
      const slim = Math.min(line.height * 0.2, 5);
      boxes.push({ left, right, top: line.top + slim, bottom: line.bottom - slim, node, isStuck, words });
    }
  }
  boxes.sort((a, b) => a.top - b.top);
  boxes.forEach((one, i) => {
    for (let j = i + 1; j < boxes.length && boxes[j].top < one.bottom; j += 1) {
      const other = boxes[j];
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (one.node !== other.node && !one.isStuck && !other.isStuck && width > 2 && height > 2) {
        said.add(`"${one.words}" lies over "${other.words}"`);
      }
    }
  });

  for (const chart of document.querySelectorAll(".chart")) {
    if (!chart.querySelector("svg.main-svg")) continue;
    const name = chart.closest(".panel").querySelector(".panel-title").textContent;
    const [legend, plot] = [".legend .bg", ".nsewdrag"].map((part) => chart.querySelector(part)?.getBoundingClientRect());
    if (!chart.querySelector(".scatterlayer path, .heatmaplayer image, .barlayer path")) said.add(`nothing is drawn in ${name}`);
    if (plot && plot.height < 120) said.add(`${name} is ${plot.height.toFixed(0)} px high`);
    if (legend && plot && legend.bottom > plot.top + 2 && legend.right > plot.left) said.add(`the legend of ${name} lies over its lines`);
  }
  return [...said];
})()

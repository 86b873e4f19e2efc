// Gives away the data of every chart and table as CSV, made of what the page holds, and links to rows.
(() => {
  "use strict";

  const field = (value) => {
    const given = value === null || value === undefined ? "" : String(value);
    // A text that a spreadsheet would take for a formula is none behind an apostrophe.
    const formula = /^[=+\-@\t\r\n＝＋－＠]/.test(given) && Number.isNaN(Number(given));
    const text = formula ? `'${given}` : given;
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const csv = (rows) => rows.map((row) => row.map(field).join(",") + "\n").join("");

  // Text of the page as data: numbers without what parts their thousands, nothing where a dash stands for nothing.
  const plain = (text) => {
    const words = text.replaceAll("\u00a0", " ").replace(/\s+/g, " ").trim();
    if (words === "–" || words === "not measured") return "";
    return /^[−-]?\d{1,3}(,\d{3})*(\.\d+)?$/.test(words) ? words.replaceAll(",", "").replace("−", "-") : words;
  };
  // A name as Plotly has it, which reads `<br>` and entities.
  const named = (text) => (text ?? "").replaceAll("<br>", ", ").replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  // What arithmetic on figures of nine digits leaves behind them is noise.
  const clean = (number) => Number(number.toPrecision(12));

  // A row for every point: which line it is of, whether it is a single repeat, where it is, what it is, its interval.
  const ofChart = (panel) => {
    const { x, y, z, along } = panel.querySelector(".chart").dataset;
    const { data, layout } = JSON.parse(panel.querySelector("script").textContent);
    const traces = data.filter((trace) => trace.meta !== "guide");
    if (z) return ofField(traces[0], [x, y, z]);
    const kinds = traces.some((trace) => trace.meta);
    const bounds = traces.some((trace) => trace.error_y);
    const ticks = layout.xaxis.tickvals ?? [];
    const nearest = (place) => {
      const far = ticks.map((tick) => Math.abs(tick - place));
      return named(layout.xaxis.ticktext[far.indexOf(Math.min(...far))]);
    };
    const told = { numbers: (at) => at, names: nearest, rarities: (at) => clean(100 - 100 / at) }[along];
    const rows = traces.flatMap((trace) => trace.x.map((at, i) => {
      const value = trace.y[i];
      const [up, down] = [trace.error_y?.array, trace.error_y?.arrayminus ?? trace.error_y?.array].map((arm) => arm?.[i]);
      const end = (arm, sign) => (value === null || arm === null || arm === undefined ? "" : clean(value + sign * arm));
      return [
        named(trace.name), ...(kinds ? [trace.meta ?? "mean"] : []), told(at), value,
        ...(bounds ? [end(down, -1), end(up, 1)] : []),
      ];
    }));
    const heads = ["Series", ...(kinds ? ["Kind"] : []), x, y, ...(bounds ? [`${y}, 95 % low`, `${y}, 95 % high`] : [])];
    return [heads, ...rows];
  };

  // A row for every field of a map that something stands in, with its edges.
  const ofField = ({ x, y, z }, [across, up, share]) => {
    const fields = z.flatMap((row, j) => row.map((value, i) => [x[i], x[i + 1], y[j], y[j + 1], value]));
    return [[`${across}, from`, `${across}, to`, `${up}, from`, `${up}, to`, share], ...fields.filter((row) => row[4] !== null)];
  };

  const text = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".flag, .sign, .here, .spread, .hidden").forEach((mark) => mark.remove());
    return plain(copy.textContent);
  };

  // What stands above each column, words that lie over several columns before those of each.
  const headsOf = (table) => {
    const grid = [];
    [...(table.tHead?.rows ?? [])].forEach((row, j) => {
      let i = 0;
      for (const cell of row.cells) {
        while (grid[j]?.[i] !== undefined) i += 1;
        for (let down = 0; down < cell.rowSpan; down += 1) {
          for (let right = 0; right < cell.colSpan; right += 1) {
            (grid[j + down] ??= [])[i + right] = down ? "" : cell.dataset.head ?? text(cell);
          }
        }
      }
    });
    const width = Math.max(0, ...grid.map((row) => row.length));
    return Array.from({ length: width }, (_, i) => grid.map((row) => row[i]).filter(Boolean).join(", "));
  };

  // The rows as they stand, what they are grouped by in front, each figure with the ends of its interval behind it.
  const ofTable = (table) => {
    let group = null;
    const rows = [];
    for (const row of [...table.tBodies].flatMap((body) => [...body.rows])) {
      if (row.cells.length === 1 && row.classList.contains("group")) group = text(row.cells[0]);
      else rows.push({ group, cells: [...row.cells] });
    }
    const heads = headsOf(table);
    const width = Math.max(heads.length, ...rows.map(({ cells }) => cells.length));
    const has = (i, test) => rows.some(({ cells }) => cells[i] && test(cells[i].dataset));
    const isWide = Array.from({ length: width }, (_, i) => has(i, ({ h, l }) => h !== undefined || l !== undefined));
    const value = (cell, wide) => {
      if (!cell) return wide ? ["", "", ""] : [""];
      const { v, h, l, u } = cell.dataset;
      const shown = v ?? text(cell);
      if (!wide) return [shown];
      if (h === undefined) return [shown, l ?? "", u ?? ""];
      const [mean, half] = [Number(v), Number(h)];
      const factor = Math.exp(half / mean);
      return [shown, ...(mean > 0 ? [mean / factor, mean * factor] : [mean - half, mean + half]).map(clean)];
    };
    const isGrouped = rows.some((row) => row.group !== null);
    const head = isWide.flatMap((wide, i) => {
      const name = heads[i] ?? "";
      return wide ? [name, `${name}, 95 % low`, `${name}, 95 % high`] : [name];
    });
    const body = rows.map((row) => {
      const figures = isWide.flatMap((wide, i) => value(row.cells[i], wide));
      return isGrouped ? [row.group ?? "", ...figures] : figures;
    });
    return [isGrouped ? ["Group", ...head] : head, ...body];
  };

  const slug = (words) => words.toLowerCase().replaceAll("µ", "u").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60).replace(/-$/, "");
  const save = (name, rows) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csv(rows)], { type: "text/csv;charset=utf-8" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // A quiet button that saves what `rows` gives under the names of page, step and thing.
  const offer = (what, section, rows) => {
    const step = (section?.id ?? "").replace(/^step-/, "");
    const name = [document.body.dataset.name, step, slug(what)].filter(Boolean).join("-") + ".csv";
    const line = document.createElement("p");
    line.className = "take";
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "Data as CSV";
    button.title = name;
    button.setAttribute("aria-label", `Data as CSV: ${what}`);
    button.addEventListener("click", () => save(name, rows()));
    line.append(button);
    return line;
  };

  for (const panel of document.querySelectorAll(".panel")) {
    // Behind its name stands what its scale is.
    const what = panel.querySelector(".panel-title").firstChild.textContent;
    panel.append(offer(what, panel.closest("section"), () => ofChart(panel)));
  }
  for (const table of document.querySelectorAll("main table")) {
    const frame = table.closest(".scroll") ?? table;
    const label = frame.getAttribute("aria-label")?.split(": ").pop();
    const isOne = frame.querySelectorAll("table").length < 2;
    const what = (isOne && label) || table.caption?.textContent || label || "table";
    const before = frame.parentElement.querySelectorAll(":scope > .take");
    const after = before.length && frame.nextElementSibling?.classList.contains("take") ? before[before.length - 1] : frame;
    after.after(offer(what, table.closest("section"), () => ofTable(table)));
  }

  // A link to every row that has a place of its own, seen when somebody points at it or comes to it by keyboard.
  for (const place of document.querySelectorAll("tr[id], tbody[id], td[id]")) {
    const head = place.querySelector("th") ?? place;
    const link = document.createElement("a");
    link.className = "here";
    link.href = `#${place.id}`;
    link.textContent = "#";
    link.setAttribute("aria-label", `Link to ${head.textContent.trim()}`);
    head.append(" ", link);
  }
  // Where a link leads into what is folded away, it is opened.
  const reveal = () => {
    const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let fold = place?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (place?.closest("details")) place.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
})();

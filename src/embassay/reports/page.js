"use strict";
{
  const root = document.documentElement;
  root.classList.add("scripted");
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const isDark = () => root.dataset.theme === "dark"
    || (root.dataset.theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const save = (name, blob) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  const fileName = (...parts) => parts.filter(Boolean).join(" ").toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 80) || "embassay";
  const sectionOf = (element) => element.closest("section[id]")?.id ?? "";

  // Charts. The library is run when the first chart comes into view: reading the page does not wait for it.
  const withLibrary = () => {
    if (window.vegaEmbed) return;
    document.head.append(make("script", { textContent: document.getElementById("library").textContent }));
  };
  // Colours that are too dark on a dark page, and what stands for them there.
  const ON_DARK = { "#222": "#e4e8ee", "#0072B2": "#4aa8e0", "#0072b2": "#4aa8e0", "#a34400": "#ff9d70", "#007a5a": "#35b78e", "#8f4a7d": "#c77fb5", "#5b4b00": "#b59d3a" };
  const onDark = (colour) => {
    if (ON_DARK[colour]) return ON_DARK[colour];
    const levels = [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16));
    const isDim = colour.length === 7 && 0.3 * levels[0] + 0.6 * levels[1] + 0.1 * levels[2] < 85;
    return isDim ? "#" + levels.map((level) => Math.round((level + 255) / 2).toString(16).padStart(2, "0")).join("") : colour;
  };
  const specOf = (figure, dark) => {
    const text = figure.querySelector("script").textContent;
    const spec = JSON.parse(dark ? text.replace(/#[0-9a-fA-F]{3,6}(?=")/g, onDark) : text);
    const [ink, soft, line] = dark ? ["#e4e8ee", "#a2adbb", "#343c48"] : ["#1d2430", "#556070", "#d9dee6"];
    const narrow = innerWidth < 640;
    spec.config = {
      ...spec.config,
      axis: { labelFontSize: 12, titleFontSize: 12, labelColor: ink, titleColor: soft, gridColor: line, domainColor: soft, tickColor: soft },
      legend: { labelFontSize: 12, titleFontSize: 12, labelColor: ink, titleColor: soft, columns: narrow ? 2 : 4, labelLimit: narrow ? 130 : 250 },
    };
    if (narrow) {
      for (const part of [spec, ...(spec.layer ?? [])]) {
        // Settings of one encoder differ at the end of their labels.
        if (part.encoding?.y?.axis?.labelLimit) part.encoding.y.axis = { labelLimit: 110, labelExpr: "truncate(datum.label, 16, 'center')" };
        for (const channel of ["color", "strokeDash"]) if (part.encoding?.[channel]?.legend?.columns > 2) part.encoding[channel].legend.columns = 2;
      }
    }
    return spec;
  };
  const OPTIONS = { renderer: "svg", actions: false, ast: true, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const draw = async (figure) => {
    if (figure.dataset.drawn) return;
    figure.dataset.drawn = "begun";
    const place = figure.querySelector(".chart");
    try {
      withLibrary();
      await vegaEmbed(place, specOf(figure, isDark()), OPTIONS);
      if (!figure.querySelector(".bar")) figure.append(chartBar(figure));
      figure.dataset.drawn = "yes";
    } catch (error) {
      place.textContent = "This chart could not be drawn: " + error.message;
    }
  };
  // A downloaded picture is light and has a fixed width, however the page looks now.
  const view = async (figure) => {
    const spec = { ...specOf(figure, false), width: 640, background: "white" };
    const drawn = await vegaEmbed(document.createElement("div"), spec, OPTIONS);
    return drawn.view;
  };
  const chartBar = (figure) => {
    const name = fileName(sectionOf(figure), figure.dataset.chart, figure.dataset.caption);
    const svg = make("button", { type: "button", textContent: "SVG" });
    const png = make("button", { type: "button", textContent: "PNG" });
    svg.setAttribute("aria-label", `Download as SVG: ${figure.getAttribute("aria-label")}`);
    png.setAttribute("aria-label", `Download as PNG: ${figure.getAttribute("aria-label")}`);
    svg.onclick = async () => save(`${name}.svg`, new Blob([await (await view(figure)).toSVG()], { type: "image/svg+xml" }));
    png.onclick = async () => (await (await view(figure)).toCanvas(2)).toBlob((blob) => save(`${name}.png`, blob));
    return make("div", { className: "bar" }, svg, png);
  };
  // Of several pictures one is shown, and a list chooses it.
  const choose = (pictures, place) => all("figure", pictures).forEach((figure, number) => { figure.hidden = number !== place; });
  for (const pictures of all(".pictures")) {
    const figures = all("figure", pictures);
    if (figures.length < 2) continue;
    const select = make("select", { ariaLabel: `Picture: ${figures[0].dataset.chart}` });
    select.append(...figures.map((figure, place) => make("option", { value: place, textContent: figure.dataset.caption })));
    select.onchange = () => choose(pictures, Number(select.value));
    pictures.prepend(make("div", { className: "bar" }, select, `${figures.length} pictures`));
    choose(pictures, 0);
  }

  // Tables.
  const textOf = (cell) => {
    if (!cell) return "";
    const copy = cell.cloneNode(true);
    for (const extra of all("i, small, sup, .mark", copy)) extra.remove();
    return copy.textContent.trim();
  };
  const numberOf = (text) => {
    const match = text.replace(/−/g, "-").replace(/,/g, "").match(/^[+<]?\s*(-?[\d.]+)/);
    return match ? Number(match[1]) : NaN;
  };
  const sort = (table, place) => {
    const head = table.tHead.rows[0].cells[place];
    const descending = head.getAttribute("aria-sort") !== "descending";
    for (const cell of table.tHead.rows[0].cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    const sign = descending ? -1 : 1;
    const keyed = [...table.tBodies[0].rows].map((row) => [textOf(row.cells[place]), row]);
    const numeric = keyed.filter(([text]) => !Number.isNaN(numberOf(text))).length > keyed.length / 2;
    keyed.sort(([a], [b]) => {
      if (!numeric) return -sign * a.localeCompare(b);
      const [x, y] = [numberOf(a), numberOf(b)];
      // What has no number comes last, in either order.
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return sign * (x - y);
    });
    table.tBodies[0].append(...keyed.map(([, row]) => row));
  };
  const quoted = (text) => {
    // A spreadsheet must not take a text for a formula.
    const safe = /^[=+@\t\r-]/.test(text) && !/^[+-]?[\d.,]+%?$/.test(text) ? `'${text}` : text;
    return /[",\n\r]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
  };
  const csv = (table) => {
    const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
    const heads = [...table.tHead.rows[0].cells];
    const limits = heads.map((_, place) => rows.some((row) => row[place]?.querySelector("i")));
    const footnotes = all("li", table.closest(".scroll").parentElement.querySelector(".footnotes") ?? table).map((note) => note.textContent);
    const remarksOf = (cell) => [...all("small", cell).map((small) => small.textContent), ...all("sup", cell).map((sup) => footnotes[sup.textContent - 1])];
    const remarks = rows.some((row) => row.some((cell) => cell.querySelector("small, sup")));
    const plain = (text) => { const ascii = text.replace(/−/g, "-").replace(/ points$/, ""); return /^[+-]?[\d,]+(\.\d+)?%?$/.test(ascii) ? ascii.replace(/,/g, "") : text; };
    const lines = [heads.flatMap((head, place) => limits[place] ? [textOf(head), `${textOf(head)}, low`, `${textOf(head)}, high`] : [textOf(head)])];
    if (remarks) lines[0].push("remarks");
    for (const row of rows) {
      const line = row.flatMap((cell, place) => {
        if (!limits[place]) return [plain(textOf(cell))];
        const [low = "", high = ""] = (cell.querySelector("i")?.textContent ?? "").replace(/[[\]]/g, "").split(", ");
        return [textOf(cell), low, high].map(plain);
      });
      if (remarks) line.push([...new Set(row.flatMap(remarksOf))].join("; "));
      lines.push(line);
    }
    return lines.map((line) => line.map(quoted).join(",")).join("\r\n");
  };
  const equip = (table) => {
    if (table.dataset.equipped) return;
    table.dataset.equipped = "yes";
    const scroll = table.closest(".scroll");
    const name = scroll.getAttribute("aria-label");
    const heads = [...table.tHead.rows[0].cells];
    // On a phone a table that is too wide has its columns below each other, each value with its heading.
    if (scroll.scrollWidth > scroll.clientWidth) {
      table.classList.add("stacked");
      const titles = heads.map((head) => head.innerText.replace(/\s+/g, " "));
      for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, place) => { cell.dataset.title = titles[place]; });
    }
    heads.forEach((cell, place) => {
      cell.scope = "col";
      if (cell.querySelector("a")) return;
      const button = make("button", { type: "button" }, ...cell.childNodes);
      button.onclick = () => sort(table, place);
      cell.append(button);
    });
    const download = make("button", { type: "button", textContent: "CSV", ariaLabel: `Download as CSV: ${name}` });
    download.onclick = () => save(`${fileName(sectionOf(table), name)}.csv`, new Blob(["\ufeff", csv(table)], { type: "text/csv" }));
    const bar = make("div", { className: "bar" }, download);
    if (table.tBodies[0].rows.length > 15) {
      const filter = make("input", { type: "search", placeholder: "filter lines", ariaLabel: `Filter the lines of: ${name}` });
      filter.oninput = () => {
        for (const row of table.tBodies[0].rows) row.hidden = !row.textContent.toLowerCase().includes(filter.value.toLowerCase());
      };
      bar.append(filter, `${table.tBodies[0].rows.length} lines`);
    }
    const block = scroll.closest(".block[id]");
    if (block) bar.append(make("a", { href: `#${block.id}`, textContent: "link", ariaLabel: `Link to: ${name}` }));
    scroll.after(bar);
  };

  const seen = new IntersectionObserver((changes) => {
    for (const { isIntersecting, target } of changes) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      if (target.matches("figure")) draw(target);
      else equip(target.querySelector("table"));
    }
  }, { rootMargin: "300px" });
  for (const target of all("figure[data-chart], .scroll")) if (target.matches("figure") || target.querySelector("table")) seen.observe(target);

  // A link opens what it leads to, and moves the keyboard's focus there.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Search in titles, texts of tables and findings.
  const search = document.getElementById("search");
  const hits = document.getElementById("hits");
  const note = document.getElementById("hits-note");
  const MOST = 30;
  let index;
  const indexed = () => {
    const entries = [];
    for (const element of all("h2, h3, summary, .findings li, tbody th, td.t, .example, dt")) {
      const home = element.closest("[id]");
      if (home && main.contains(home)) entries.push([element.textContent.trim(), home]);
    }
    return entries;
  };
  const main = document.getElementById("main");
  const titleOf = (home) => (home.querySelector("summary, h3, h2")?.textContent ?? home.id).trim();
  search.oninput = () => {
    index ??= indexed();
    const wanted = search.value.trim().toLowerCase();
    const matches = wanted.length < 2 ? [] : index.filter(([text]) => text.toLowerCase().includes(wanted));
    const shown = new Map();
    for (const [text, home] of matches) {
      const title = titleOf(home);
      const key = `${home.id} ${text}`;
      if (shown.size < MOST && !shown.has(key)) shown.set(key, make("li", {}, make("a", { href: `#${home.id}`, textContent: text === title ? title : `${title}: ${text.slice(0, 140)}` })));
    }
    hits.replaceChildren(...shown.values());
    hits.hidden = !shown.size;
    note.textContent = wanted.length < 2 ? "" : `${matches.length} places`;
    if (wanted.length > 1 && !matches.length) { hits.replaceChildren(make("li", { textContent: "nothing found" })); hits.hidden = false; }
  };
  search.onkeydown = (event) => { if (event.key === "Escape") { search.value = ""; hits.hidden = true; } };
  hits.onclick = (event) => { if (event.target.closest("a")) { hits.hidden = true; setTimeout(reveal); } };

  // One encoder is highlighted in all tables, and chosen in all pictures.
  document.getElementById("model").onchange = ({ target: { value } }) => {
    for (const row of all("tbody tr, thead th")) {
      const name = textOf(row.matches("tr") ? row.cells[0] : row);
      row.classList.toggle("chosen", value !== "" && name === value);
    }
    for (const select of all(".pictures select")) {
      const place = [...select.options].findIndex((option) => option.textContent === value);
      if (place >= 0) { select.value = place; select.onchange(); }
    }
  };

  const theme = document.getElementById("theme");
  const redraw = () => {
    theme.textContent = isDark() ? "Light" : "Dark";
    for (const figure of all("figure[data-drawn=yes]")) {
      delete figure.dataset.drawn;
      seen.observe(figure);
    }
  };
  theme.textContent = isDark() ? "Light" : "Dark";
  theme.onclick = () => { root.dataset.theme = isDark() ? "light" : "dark"; redraw(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);

  const contents = document.getElementById("contents");
  const nav = document.getElementById("nav");
  const showNav = (open) => { nav.classList.toggle("open", open); contents.ariaExpanded = String(open); };
  contents.onclick = () => showNav(!nav.classList.contains("open"));
  nav.onclick = (event) => { if (event.target.closest("a")) showNav(false); };

  // Paper is light and cannot be unfolded: everything is opened and drawn before it is printed, and put back afterwards.
  // Nothing here waits for a file or a timer, so the browser prints when all promises are kept.
  let putBack;
  const forPaper = async () => {
    if (putBack) return;
    const { theme } = root.dataset;
    const folds = all("details:not([open])");
    const figures = all("figure[hidden]");
    putBack = () => {
      if (theme) root.dataset.theme = theme;
      else delete root.dataset.theme;
      for (const fold of folds) fold.open = false;
      for (const figure of figures) figure.hidden = true;
      redraw();
      putBack = undefined;
    };
    for (const fold of folds) fold.open = true;
    for (const figure of figures) figure.hidden = false;
    root.dataset.theme = "light";
    redraw();
    await Promise.all(all("figure[data-chart]").map(draw));
  };
  addEventListener("beforeprint", forPaper);
  addEventListener("afterprint", () => putBack?.());
  document.getElementById("print").onclick = async () => { await forPaper(); print(); };
}

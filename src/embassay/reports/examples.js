"use strict";
{
  const PAGE = 20;
  const FEW = 4; // Up to so many encoders are all shown beside each item.
  const MINUS = "−";
  const WORDS = { 1: "right", 0: "wrong" };
  const MARKS = { 1: "✓", 0: "✗" };
  let browsers = 0;

  // Everything that comes from data goes through `text`, as text: never as markup.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };
  const text = (string, tag = "bdi") => make(tag, { dir: "auto" }, string);

  const written = (value, format, threshold = null) => {
    if (value === null || value === undefined) return "–";
    const digits = { percent: (100 * value).toFixed(1) + "%", count: String(Math.round(value)) };
    // The scores of fused lists differ in the fourth decimal.
    return (digits[format] || value.toFixed(threshold !== null && Math.abs(threshold) < 0.02 ? 5 : 3)).replace(/^-(?=0\.?0*$)/, "").replace("-", MINUS);
  };

  const entries = (cell, column, data) => (Array.isArray(cell) ? cell : [[cell]]).map(([value, label = "", right]) => {
    const isPassage = column.passages && label !== "";
    return { value, label, passage: isPassage ? data.passages[label] : "", right, isPassage };
  });

  const unfold = (data) => data.items.map((item, order) => {
    const shown = item.texts.map(([label, content, right]) => ({ label, content, right }));
    return { ...item, texts: shown, order, searched: "" };
  });

  // All texts of an item in lower case; joined when somebody searches for the first time.
  const searchedIn = (item, data) => {
    if (!item.searched) {
      const parts = [item.id, item.subset, item.heading];
      for (const { content, right } of item.texts) parts.push(content, right);
      for (const outcome of item.outcomes) {
        if (!outcome) continue;
        data.columns.forEach((column, place) => {
          for (const { label, passage } of entries(outcome[2][place], column, data)) parts.push(label, passage);
        });
      }
      item.searched = parts.join("\n").toLowerCase();
    }
    return item.searched;
  };

  const correct = (item, encoder) => (item.outcomes[encoder] ? item.outcomes[encoder][0] : null);
  // What is undecided, such as a tie of the first document, lies between wrong and right.
  const grade = (item, encoder) => correct(item, encoder) ?? 0.5;
  const margin = (item, encoder) => (item.outcomes[encoder] ? item.outcomes[encoder][1] : null);

  const option = (value, label) => make("option", { value }, label);
  let controlsMade = 0;
  const labelled = (label, control) => {
    control.id = `example-control-${(controlsMade += 1)}`;
    return make("div", { class: "control" }, make("label", { for: control.id }, label), control);
  };

  const browse = (root) => {
    const data = JSON.parse(root.querySelector("script").textContent);
    const { encoders, columns } = data;
    const items = unfold(data);
    const number = (browsers += 1);
    const names = encoders.map((encoder) => encoder.name);
    const requested = encoders.flatMap((encoder, index) => (encoder.baseline ? [] : [index]));
    const asked = requested.length ? requested : encoders.map((_, index) => index);
    const decided = items.some((item) => asked.some((index) => correct(item, index) !== null));
    const measured = items.some((item) => item.outcomes.some((outcome) => outcome && outcome[1] !== null));
    const subsets = [...new Set(items.map((item) => item.subset))].filter(Boolean).sort();

    const select = (options) => make("select", {}, ...options);
    const search = make("input", { type: "search", autocomplete: "off" });
    const show = select([]);
    const subset = select([option("", "all"), ...subsets.map((name) => option(name, name))]);
    const first = select(names.map((name, index) => option(index, name)));
    const second = select(names.map((name, index) => option(index, name)));
    const sort = select([
      ...(measured ? [option("worst", "margin of A, lowest first"), option("best", "margin of A, highest first")] : []),
      option("order", "order of the corpus"),
    ]);
    first.value = asked[0];
    second.value = asked[1] ?? encoders.findIndex((_, index) => index !== asked[0]);
    if (second.value === "") second.value = asked[0];
    const partOfFirst = () => names.indexOf(encoders[first.value].part);
    const compareWithPart = () => { if (partOfFirst() >= 0) second.value = partOfFirst(); };
    compareWithPart();

    const filters = {
      all: { label: "all items", keep: () => true },
      every: { label: "missed by all", keep: (item) => asked.every((index) => correct(item, index) === 0) },
      some: { label: "missed by some, not by all", keep: (item) => asked.some((index) => correct(item, index) === 0) && !filters.every.keep(item) },
      none: { label: "missed by none", keep: (item) => asked.every((index) => correct(item, index) === 1) },
      a: { label: "missed by A", keep: (item) => correct(item, first.value) === 0 },
      only: { label: "missed by A, but not by B", keep: (item) => correct(item, first.value) === 0 && correct(item, second.value) === 1 },
    };
    const steps = {
      rescued: { label: "rescued by A: better than B", keep: (item) => grade(item, first.value) > grade(item, second.value) },
      broken: { label: "broken by A: worse than B", keep: (item) => grade(item, first.value) < grade(item, second.value) },
    };
    const fillFilters = () => {
      const chosen = show.value;
      // What a fusion, a reranker or an index changes is compared with what it is built on.
      const shown = partOfFirst() === Number(second.value) ? { ...filters, ...steps } : filters;
      show.replaceChildren(...Object.entries(shown).map(([name, { label, keep }]) => option(name, `${label} (${items.filter(keep).length})`)));
      show.value = chosen in shown ? chosen : "all";
    };
    fillFilters();
    // What fails comes first.
    if (decided && items.some(filters.a.keep)) show.value = "a";

    const controls = make("div", { class: "controls", role: "group", "aria-label": `Filter: ${data.title}` });
    controls.append(labelled("Search", search));
    if (decided) controls.append(labelled("Show", show));
    if (subsets.length > 1) controls.append(labelled("Subset", subset));
    controls.append(labelled("Encoder A", first));
    if (encoders.length > 1) controls.append(labelled("Encoder B", second));
    controls.append(labelled("Sort by", sort));
    const status = make("p", { class: "status", role: "status" });
    const list = make("ol", { class: "items", id: `items-${number}`, tabindex: "-1" });
    const back = make("button", { type: "button", "aria-controls": list.id }, "← Previous");
    const next = make("button", { type: "button", "aria-controls": list.id }, "Next →");
    const place = make("span", {});
    const pages = make("div", { class: "pages", role: "group", "aria-label": `Pages: ${data.title}` }, back, place, next);

    const entryOf = (item, column, { value, label, passage, right, isPassage }, threshold) => {
      const parts = [];
      if (right && column.several) parts.push(make("span", { class: "good" }, "✓ right: "));
      // What stands above, with the item, is not said again.
      if (label && (column.several || !column.passages || !item.texts.some((above) => above.right === label))) parts.push(text(label));
      if (value !== null) parts.push(make("span", { class: "value" }, (parts.length ? " " : "") + written(value, column.format, threshold)));
      if (isPassage && threshold !== null && value !== null && value < threshold) parts.push(make("span", { class: "soft" }, " below τ"));
      if (passage && !item.texts.some((above) => above.content === passage)) parts.push(text(passage, "q"));
      return make("div", { class: "entry" }, ...parts);
    };
    const cellOf = (item, column, cell, threshold) => {
      const shown = entries(cell, column, data).map((entry) => entryOf(item, column, entry, threshold));
      if (!shown.length) return ["–"];
      if (shown.length === 1 || !column.passages) return shown;
      return [shown[0], make("details", {}, make("summary", {}, `${shown.length - 1} more`), ...shown.slice(1))];
    };
    // A column without a number or a name for any encoder is left out of this item's tables.
    const columnsOf = (item) => columns.flatMap((column, place) =>
      item.outcomes.some((outcome) => outcome && (!Array.isArray(outcome[2][place]) || outcome[2][place].length)) ? [place] : []);
    const rowOf = (item, index, places) => {
      const { name, threshold } = encoders[index];
      const [right, distance, cells] = item.outcomes[index] || [null, null, columns.map(() => [])];
      const letter = [Number(first.value) === index && "A", Number(second.value) === index && encoders.length > 1 && "B"].filter(Boolean).join(", ");
      const head = make("th", { scope: "row", role: "rowheader" }, text(name));
      if (letter && encoders.length > 2) head.append(" ", make("span", { class: "letter" }, letter));
      if (threshold !== null) head.append(make("small", {}, `τ ${written(threshold, "", threshold)}`));
      const row = make("tr", { role: "row" }, head);
      if (decided) {
        let mark = make("span", { class: "soft" }, item.outcomes[index] ? "undecided" : "–");
        if (right !== null) mark = make("span", { class: right === 1 ? "good" : "bad" }, `${MARKS[right]} ${WORDS[right]}`);
        row.append(make("td", { role: "cell", "data-heading": "outcome" }, mark));
      }
      for (const place of places) {
        const column = columns[place];
        row.append(make("td", { role: "cell", "data-heading": column.heading }, ...cellOf(item, column, cells[place], threshold)));
      }
      if (measured) row.append(make("td", { role: "cell", class: "value", "data-heading": "margin" }, written(distance, "", threshold)));
      return row;
    };
    const wide = new Set(columns.filter(({ several, passages }) => several && passages).map(({ heading }) => heading));
    const tableOf = (item, indices, label) => {
      const places = columnsOf(item);
      const headings = ["encoder", ...(decided ? ["outcome"] : []), ...places.map((place) => columns[place].heading), ...(measured ? ["margin"] : [])];
      const head = make("tr", { role: "row" }, ...headings.map((heading) => make("th", { scope: "col", role: "columnheader", ...(wide.has(heading) && { class: "wide" }) }, heading)));
      return make("table", { role: "table", "aria-label": label },
        make("thead", { role: "rowgroup" }, head),
        make("tbody", { role: "rowgroup" }, ...indices.map((index) => rowOf(item, index, places))));
    };
    const chipsOf = (item) => {
      const groups = [[0, "bad", "Missed by"], [1, "good", "right"]];
      const line = make("p", { class: "chips" });
      for (const [outcome, style, words] of groups) {
        const members = encoders.filter((_, index) => correct(item, index) === outcome).map(({ name }) => name);
        if (!members.length) continue;
        line.append(make("span", { class: style }, `${MARKS[outcome]} ${words}${outcome ? "" : ` ${members.length} of ${encoders.length}`}: `));
        members.forEach((name, place) => line.append(place ? ", " : "", text(name)));
        line.append(". ");
      }
      return line;
    };
    const cardOf = (item) => {
      const card = make("li", { class: "item" });
      const prefix = item.heading && data.prefix ? [make("span", { class: "soft" }, `${data.prefix}: `)] : [];
      card.append(make("h4", {}, ...prefix, text(item.heading || item.id)));
      const about = [`id ${item.id}`, item.subset && `subset: ${item.subset}`].filter(Boolean);
      card.append(make("p", { class: "about" }, text(about.join(" · "))));
      if (item.texts.length) {
        const terms = make("dl", {});
        for (const { label, content, right } of item.texts) {
          const parts = right ? [make("b", {}, text(right)), content ? ": " : ""] : [];
          if (content && content !== right) parts.push(text(content));
          terms.append(make("div", {}, make("dt", {}, label), make("dd", {}, ...parts)));
        }
        card.append(terms);
      }
      const chosen = [...new Set([Number(first.value), Number(second.value)])];
      const rest = encoders.map((_, index) => index).filter((index) => !chosen.includes(index));
      const few = encoders.length <= FEW;
      const near = few ? [...chosen, ...rest] : chosen;
      const others = few ? [] : rest;
      if (others.length && decided) card.append(chipsOf(item));
      card.append(tableOf(item, near, `Encoders: ${item.heading || item.id}`));
      if (others.length) {
        const fold = make("details", { class: "others" }, make("summary", {}, `Show the other ${others.length} encoders`));
        // With many encoders these tables are most of the page: each is made when it is opened.
        fold.addEventListener("toggle", () => { if (fold.childElementCount === 1) fold.append(tableOf(item, others, `Other encoders: ${item.heading || item.id}`)); });
        card.append(fold);
      }
      return card;
    };

    let matches = items;
    let page = 0;
    const draw = () => {
      const pagesInAll = Math.max(1, Math.ceil(matches.length / PAGE));
      const start = page * PAGE;
      const visible = matches.slice(start, start + PAGE);
      list.start = start + 1;
      list.replaceChildren(...visible.map(cardOf));
      status.textContent = matches.length
        ? `${start + 1}–${start + visible.length} of ${matches.length} ${matches.length === items.length ? "items" : `matching items (of ${items.length})`}`
        : `No item matches (of ${items.length}).`;
      place.textContent = `Page ${page + 1} of ${pagesInAll}`;
      back.disabled = page === 0;
      next.disabled = page + 1 >= pagesInAll;
      pages.hidden = pagesInAll === 1;
    };
    const update = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const { keep } = { ...filters, ...steps }[show.value];
      matches = items.filter((item) => keep(item)
        && (!subset.value || item.subset === subset.value)
        && words.every((word) => searchedIn(item, data).includes(word)));
      if (sort.value !== "order") {
        const sign = sort.value === "worst" ? 1 : -1;
        // What has no margin comes last either way.
        const key = (item) => { const value = margin(item, first.value); return value === null ? Infinity : sign * value; };
        matches.sort((a, b) => (key(a) === key(b) ? a.order - b.order : key(a) - key(b)));
      }
      page = 0;
      draw();
    };
    const turn = (step) => {
      page += step;
      draw();
      root.scrollIntoView({ block: "start" });
      list.focus({ preventScroll: true });
    };
    search.addEventListener("input", update);
    for (const control of [show, subset, sort]) control.addEventListener("change", update);
    first.addEventListener("change", compareWithPart);
    for (const control of [first, second]) control.addEventListener("change", () => { fillFilters(); update(); });
    back.addEventListener("click", () => turn(-1));
    next.addEventListener("click", () => turn(1));

    root.querySelector(".static").replaceWith(controls, status, list, pages);
    update();
  };

  for (const root of document.querySelectorAll(".examples")) browse(root);
}

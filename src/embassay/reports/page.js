"use strict";
{
  const draw = (figure) => {
    if (figure.dataset.drawn) return;
    figure.dataset.drawn = "begun";
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".chart");
    vegaEmbed(place, spec, { renderer: "svg", actions: false, ast: true }).then(
      () => { figure.dataset.drawn = "yes"; },
      (error) => { place.textContent = "This chart could not be drawn: " + error.message; },
    );
  };
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    // A folded chart has no width yet: it is drawn when it is opened.
    const fold = figure.closest("details");
    if (fold) fold.addEventListener("toggle", () => { if (fold.open) draw(figure); });
    else draw(figure);
  }
}

"use strict";
{
  for (const figure of document.querySelectorAll("figure[data-chart]")) {
    const spec = JSON.parse(figure.querySelector("script").textContent);
    const place = figure.querySelector(".chart");
    vegaEmbed(place, spec, { renderer: "svg", actions: false, ast: true }).then(
      () => { figure.dataset.drawn = "yes"; },
      (error) => { place.textContent = "This chart could not be drawn: " + error.message; },
    );
  }
}

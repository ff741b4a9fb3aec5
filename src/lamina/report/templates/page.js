(function () {
  "use strict";
  var figures = JSON.parse(document.getElementById("figures").textContent);
  var root = document.documentElement;
  var touch = window.matchMedia("(pointer: coarse)").matches;
  // The widths, in CSS pixels, of a figure alone, of one of two and of one of three on a sheet of A4 or letter.
  var paper = { alone: 670, pair: 325, many: 214 };

  // Colours are named in the figures and set in the style sheet, once for light and once for dark.
  function painted(node, colours) {
    if (Array.isArray(node)) {
      return node.every(function (one) { return one === null || typeof one !== "object"; })
        ? node
        : node.map(function (one) { return painted(one, colours); });
    }
    if (node === null || typeof node !== "object") return node;
    var copy = {};
    Object.keys(node).forEach(function (key) {
      var value = node[key];
      copy[key] = /color$/.test(key) && typeof value === "string"
        ? colours.getPropertyValue("--" + value).trim()
        : painted(value, colours);
    });
    return copy;
  }

  function config(place) {
    var roomy = !touch && place.clientWidth > 560;
    return {
      responsive: true,
      displaylogo: false,
      displayModeBar: roomy ? "hover" : false,
      modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
      toImageButtonOptions: { format: "svg" },
    };
  }

  function draw(printing) {
    var colours = getComputedStyle(root);
    return Promise.all(figures.map(function (figure) {
      var place = document.getElementById(figure.id);
      var layout = painted(figure.layout, colours);
      layout.autosize = true;
      // On a touch screen a finger on a figure should scroll the page, not zoom.
      layout.dragmode = touch ? false : "zoom";
      if (printing) {
        layout.width = place.closest(".pair") ? paper.pair : place.closest(".many") ? paper.many : paper.alone;
        layout.height = place.clientHeight;
      }
      return Plotly.react(place, painted(figure.data, colours), layout, config(place));
    }));
  }

  // On paper all is light, and as wide as the sheet.
  window.addEventListener("beforeprint", function () {
    root.classList.add("printing");
    draw(true);
  });
  window.addEventListener("afterprint", function () {
    root.classList.remove("printing");
    draw(false);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () { draw(false); });

  document.querySelectorAll("button[data-copy]").forEach(function (button) {
    button.addEventListener("click", function () {
      var text = document.getElementById(button.dataset.copy);
      var range = document.createRange();
      range.selectNodeContents(text);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      var done = function () { button.textContent = "Copied"; };
      if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(done, function () {});
    });
  });

  // Tables that are wider than the page say that they can be scrolled, also by keyboard.
  function measure() {
    document.querySelectorAll(".scroll").forEach(function (one) {
      var wide = one.scrollWidth > one.clientWidth + 1;
      one.classList.toggle("wide", wide);
      if (wide) one.tabIndex = 0; else one.removeAttribute("tabindex");
    });
  }
  window.addEventListener("resize", measure);
  document.addEventListener("toggle", measure, true); // of details, which does not bubble
  measure();

  draw(false).then(function () { root.dataset.drawn = String(figures.length); });
})();

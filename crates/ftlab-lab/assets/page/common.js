// Shared by the scripts of all pages: colours, elements, numbers.
'use strict';
const COLOURS = 8;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = at => css('--v' + (at % COLOURS));
// Lines of the same colour differ in their dashes.
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const dash = at => DASHES[Math.floor(at / COLOURS) % DASHES.length];
function el(tag, parent, cls, text) {
  const made = document.createElement(tag);
  if (cls) made.className = cls;
  if (text !== undefined) made.textContent = text;
  parent.append(made);
  return made;
}
// Three significant digits, or all digits before the point.
function digits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
function latency(ns) {
  if (ns < 999.5) return digits(ns) + ' ns';
  if (ns < 999.5e3) return digits(ns / 1e3) + ' us';
  if (ns < 999.5e6) return digits(ns / 1e6) + ' ms';
  return digits(ns / 1e9) + ' s';
}

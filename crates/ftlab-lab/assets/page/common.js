// Shared by the scripts of all pages: colours, elements, numbers.
'use strict';
const COLOURS = 8;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = at => css('--v' + (at % COLOURS));
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

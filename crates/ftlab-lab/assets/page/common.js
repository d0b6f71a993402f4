// Shared by the scripts of all pages: colours, elements, numbers.
'use strict';
const COLOURS = 8;
const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colour = at => css('--v' + (at % COLOURS));
// Neighbouring lines differ in their dashes too, and lines of the same colour always.
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const dash = at => DASHES[(at + Math.floor(at / COLOURS)) % DASHES.length];
// The purposes of flash commands, by their names in results: their colours, and words for people where the name is none.
const PURPOSE_INKS = { host: 0, read_modify_write: 5, gc: 1, wear: 3, fold: 2, rewrite: 4, system: 7 };
const PURPOSE_WORDS = { gc: 'collection', read_modify_write: 'read-modify-write', wear: 'care of blocks', fold: 'fold of the SLC cache', system: 'system area' };
// A line in a legend, as it is drawn in the charts.
function paintSwatch(swatch, at, dashes = dash(at)) {
  let end = 0;
  const ink = colour(at), stops = [];
  (dashes.length ? dashes : [1, 0]).forEach((length, part) => {
    const shade = part % 2 ? 'transparent' : ink;
    stops.push(`${shade} ${end}px`, `${shade} ${end += length}px`);
  });
  swatch.style.color = ink;
  swatch.style.background = `repeating-linear-gradient(to right, ${stops.join(', ')})`;
}
// A button that hands out a file made in the page.
function download(parent, text, name, type, make) {
  const button = el('button', parent, 'download', text);
  button.type = 'button';
  button.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([make()], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  return button;
}
const quoted = text => /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : String(text);
// Columns as CSV; nothing where there is no value.
function csv(names, columns) {
  const row = values => values.map(value => value === null || value === undefined ? '' : quoted(String(value))).join(',');
  return [row(names), ...columns[0].map((_, at) => row(columns.map(column => column[at])))].join('\n') + '\n';
}
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

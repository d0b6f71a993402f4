// Charts as SVG files, in the light colours, with their legends below; and the shapes of points.

// Shapes around a place, which tell lines apart where colours cannot. They serve the canvas and files.
const SHAPES = [
  (x, y, r) => `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  (x, y, r) => `M${x - r} ${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x} ${y - 1.2 * r}L${x + 1.1 * r} ${y + r}H${x - 1.1 * r}Z`,
  (x, y, r) => `M${x} ${y - 1.3 * r}L${x + 1.3 * r} ${y}L${x} ${y + 1.3 * r}L${x - 1.3 * r} ${y}Z`,
  (x, y, r) => `M${x} ${y + 1.2 * r}L${x + 1.1 * r} ${y - r}H${x - 1.1 * r}Z`,
  (x, y, r) => `M${x - r} ${y - r / 3}h${r * 2 / 3}v${-r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${r * 2 / 3}h${-r * 2 / 3}v${-r * 2 / 3}h${-r * 2 / 3}Z`,
];
const shape = (at, x, y, r) => SHAPES[at % SHAPES.length](x, y, r);
const DIAMOND = 3;
// A point in a legend, as it is drawn in the charts.
function paintShape(parent, at) {
  const space = 'http://www.w3.org/2000/svg', made = document.createElementNS(space, 'svg'), path = document.createElementNS(space, 'path');
  Object.entries({ width: 14, height: 14, 'aria-hidden': true }).forEach(([name, value]) => made.setAttribute(name, value));
  path.setAttribute('d', shape(at, 7, 7, 4));
  path.style.fill = colour(at);
  made.append(path);
  parent.append(made);
}

// The room for the title above a chart in a file.
const TITLE = 24;
const escaped = text => String(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
// The first rule of the page is that of the light scheme.
const lightly = name => [...document.styleSheets].flatMap(sheet => [...sheet.cssRules])
  .find(rule => rule.selectorText === ':root').style.getPropertyValue(name).trim();
const lightColour = at => lightly('--v' + (at % COLOURS));
// Tenths of a pixel are enough.
const tenths = value => Number(value.toFixed(1));

// A curve: straight from point to point, or in steps; `null` ends a piece.
function curvePath(points, stepped) {
  let path = '', pen = false;
  points.forEach(point => {
    if (point === null || !point.every(Number.isFinite)) { pen = false; return; }
    const [x, y] = point.map(tenths);
    path += !pen ? `M${x} ${y}` : stepped ? `H${x}V${y}` : `L${x} ${y}`;
    pen = true;
  });
  return path;
}

// A chart of uPlot as a file. `series`: name, at (its colour), dash, points ([x, y], or null between pieces), stepped, and as
// needed shape, dots ([x, y] of points without a line), intervals ([x, low, high]), bar (the width of a bar), across (a line over
// the whole width), marks ([x, y, shape]).
function chartFile(plot, title, series) {
  const ratio = devicePixelRatio || 1, parts = [], curves = [];
  const [left, top, width, height] = ['left', 'top', 'width', 'height'].map(side => plot.bbox[side] / ratio);
  const right = left + width, bottom = top + height;
  const x = value => left + plot.valToPos(value, 'x'), y = value => top + plot.valToPos(value, 'y');
  const line = (x1, y1, x2, y2, ink) => parts.push(`<line x1="${tenths(x1)}" y1="${tenths(y1)}" x2="${tenths(x2)}" y2="${tenths(y2)}" stroke="${ink}"/>`);
  const label = (x, y, anchor, text, turned = '') => parts.push(`<text x="${tenths(x)}" y="${tenths(y)}" text-anchor="${anchor}"${turned}>${escaped(text)}</text>`);
  plot.axes[0]._splits.forEach((value, at) => {
    if (x(value) < left - 1 || x(value) > right + 1) return;
    line(x(value), top, x(value), bottom, '#ddd');
    label(x(value), bottom + 16, 'middle', plot.axes[0]._values[at] ?? '');
  });
  plot.axes[1]._splits.forEach((value, at) => {
    if (y(value) < top - 1 || y(value) > bottom + 1) return;
    line(left, y(value), right, y(value), '#ddd');
    label(left - 6, y(value) + 4, 'end', plot.axes[1]._values[at] ?? '');
  });
  if (plot.axes[0].label) label(left + width / 2, bottom + 34, 'middle', plot.axes[0].label);
  if (plot.axes[1].label) label(12, top + height / 2, 'middle', plot.axes[1].label, ` transform="rotate(-90 12 ${tenths(top + height / 2)})"`);
  series.forEach((one, row) => {
    const ink = lightColour(one.at), stroke = `fill="none" stroke="${ink}" stroke-width="1.5"`;
    const dashed = `${stroke} stroke-dasharray="${(one.dash ?? []).join(' ')}"`;
    const points = one.points.map(point => point && [x(point[0]), y(point[1])]);
    const known = points.filter(point => point && point.every(Number.isFinite));
    if (one.bar) known.forEach(point => {
      const zero = Math.min(Math.max(y(0), top), bottom), wide = x(one.bar) - x(0);
      curves.push(`<rect x="${tenths(point[0] - wide / 2)}" y="${tenths(Math.min(point[1], zero))}" width="${tenths(wide)}" height="${tenths(Math.abs(point[1] - zero))}" fill="${ink}"/>`);
    });
    else curves.push(`<path d="${curvePath(points, one.stepped)}" ${dashed}/>`);
    (one.dots ?? []).forEach(([at, value]) => curves.push(`<path d="${shape(0, tenths(x(at)), tenths(y(value)), 2)}" fill="${ink}"/>`));
    (one.intervals ?? []).forEach(([at, low, high]) => curves.push(`<path d="M${tenths(x(at))} ${tenths(y(low))}V${tenths(y(high))}" ${one.bar ? 'stroke="#000" stroke-width="1.5"' : stroke}/>`));
    if (one.shape !== undefined) known.forEach(point => curves.push(`<path d="${shape(one.shape, tenths(point[0]), tenths(point[1]), 3.5)}" fill="${ink}"/>`));
    if (one.across !== undefined) curves.push(`<path d="M${left} ${tenths(y(one.across))}h${width}" ${stroke} stroke-dasharray="6 4"/>`);
    (one.marks ?? []).forEach(([at, value, kind]) => curves.push(`<path d="${shape(kind, tenths(x(at)), tenths(y(value)), 4.5)}" fill="${kind === DIAMOND ? ink : 'none'}" stroke="#000"/>`));
    const below = bottom + 56 + 18 * row;
    parts.push(one.bar ? `<rect x="${left}" y="${below - 5}" width="30" height="10" fill="${ink}"/>` : `<path d="M${left} ${below}h30" ${dashed}/>`);
    if (one.shape !== undefined) parts.push(`<path d="${shape(one.shape, left + 15, below, 3.5)}" fill="${ink}"/>`);
    label(left + 38, below + 4, 'start', one.name);
  });
  const whole = [right + 20, TITLE + bottom + 56 + 18 * series.length].map(tenths);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${whole[0]}" height="${whole[1]}" font-family="sans-serif" font-size="12">`
    + `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="#fff"/><text x="${left}" y="18" font-size="14" font-weight="bold">${escaped(title)}</text>`
    + `<g transform="translate(0 ${TITLE})">${parts.join('')}`
    // A drawing within a drawing cuts off what lies outside.
    + `<svg x="${left}" y="${top}" width="${width}" height="${height}" viewBox="${left} ${top} ${width} ${height}">${curves.join('')}</svg></g></svg>\n`;
}
const fileName = title => title.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '');
// Buttons for the drawing of a figure and for its data.
function fileButtons(parent, title, drawing, data) {
  const files = el('div', parent, 'files'), name = fileName(title);
  download(files, 'SVG', name + '.svg', 'image/svg+xml', drawing);
  download(files, 'CSV', name + '.csv', 'text/csv', data);
}

// What is drawn beside the strips: the run over time, one drive or two, and the map of blocks.
'use strict';
const shown = (value, show) => value === null || value === undefined ? '–' : show(value);
// A colour stands for what is plotted; the second drive has the same, dashed.
const BESIDE_DASH = [6, 4];
const PLOTS = [
  { title: 'Throughput', unit: 'MB/s', lines: [['reads', 'read_bytes', 1e3], ['writes', 'write_bytes', 1e3]], rate: true },
  { title: 'Latency, 99th percentile', unit: 'ms', lines: [['reads', 'read_p99_ns', 1e-6], ['writes', 'write_p99_ns', 1e-6]] },
  { title: 'Pages programmed, for the host and for collection', unit: 'pages/s', lines: [['host', 'host_pages', 1e9], ['collection', 'copied_pages', 1e9]], rate: true },
  { title: 'Free blocks of the plane with the fewest', unit: 'blocks', lines: [['free blocks', 'free_blocks', 1]] },
];
// How the second drive differs, from the beginning up to each moment while both work: sums of one over those of the other.
const APART = {
  title: 'The drive beside it over the first, from the beginning of the load up to then', unit: 'ratio',
  lines: [['bytes read and written', ['read_bytes', 'write_bytes']], ['pages programmed, for the host and for collection', ['host_pages', 'copied_pages']], ['the same for each page of the host', null]],
};

// The windows of a series that are over.
const whole = (series, ended) => Math.max(series.start_ns.length - (ended ? 0 : 1), 0);
const sumOf = (series, names, at) => names.reduce((sum, name) => sum + series[name][at], 0);

// Columns for a chart of one drive: seconds, and a line for each. The last window is left out at the end, too: it is over
// only by chance, and would look like a fall.
function columnsOf(plot, series) {
  const count = whole(series, false), window = series.window_ns;
  const values = (name, factor) => series[name].slice(0, count).map(value => value === null ? null : value * factor / (plot.rate ? window : 1));
  return [series.start_ns.slice(0, count).map(ns => ns / 1e9), ...plot.lines.map(([, name, factor]) => values(name, factor))];
}
// Places of values without a neighbour: no line goes through them. Where only the other drive has a window, there is no gap.
function lone(values) {
  const own = [...values.keys()].filter(at => values[at] !== undefined);
  const known = place => own[place] !== undefined && values[own[place]] !== null;
  return own.filter((_, place) => known(place) && !known(place - 1) && !known(place + 1));
}
// Sums from the beginning to the end of each window.
function sums(series, names, ended) {
  let sum = 0;
  return Array.from({ length: whole(series, ended) }, (_, at) => { sum += sumOf(series, names, at); return sum; });
}
// The value of a column at the last window that is over by then; windows of two drives may differ in length.
function upTo(series, column, ns) {
  let low = 0, high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (series.start_ns[middle] + series.window_ns <= ns) low = middle + 1; else high = middle;
  }
  return low ? column[low - 1] : null;
}
// Times count from the beginning of each one's load, which may differ: a preparation may take time.
function apart(all, ended) {
  const [first, second] = all.map(series => ({ ...series, start_ns: series.start_ns.map(ns => ns - series.start_ns[0]) }));
  // On the grid of the coarser one, whose windows are some of the other's together.
  const grid = first.window_ns >= second.window_ns ? first : second;
  const endOf = series => series.start_ns[whole(series, ended) - 1] + series.window_ns;
  // Once one has done its load, the other only catches up.
  const both = Math.min(endOf(first), endOf(second));
  const ends = grid.start_ns.slice(0, whole(grid, ended)).map(ns => ns + grid.window_ns).filter(ns => ns <= both);
  const ratio = names => {
    const [one, other] = [first, second].map(series => sums(series, names, ended));
    return ends.map(ns => {
      const [a, b] = [upTo(first, one, ns), upTo(second, other, ns)];
      return a && b !== null ? b / a : null;
    });
  };
  const [bytes, pages, host] = [['read_bytes', 'write_bytes'], ['host_pages', 'copied_pages'], ['host_pages']].map(ratio);
  return [ends.map(ns => ns / 1e9), bytes, pages, pages.map((value, at) => value !== null && host[at] ? value / host[at] : null)];
}

// The charts over time, of all drives. `ended` tells whether the last windows are over.
function plotsOf(place, about) {
  const HEIGHT = 230, STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -Infinity, End: Infinity };
  let charts = [];
  function clear() {
    charts.forEach(({ made, observer }) => { observer.disconnect(); made.destroy(); });
    charts = [];
    place.textContent = about.textContent = '';
  }
  const named = (label, at) => at ? `${label}, beside` : label;
  // A window of the one drive is no gap in the line of the other.
  const points = (xs, ys) => xs.flatMap((x, at) => ys[at] === undefined ? [] : [ys[at] === null ? null : [x, ys[at]]]);
  function chart(title, unit, lines, format) {
    const box = el('div', place, 'chart');
    el('h3', box, '', `${title}, ${unit}`);
    const holder = el('div', box, 'plot');
    const axis = { stroke: css('--faint'), grid: { stroke: css('--line') }, ticks: { stroke: css('--line') }, labelSize: 20, labelFont: '12px system-ui, sans-serif' };
    const width = () => Math.max(box.clientWidth, 240);
    const made = new uPlot({
      width: width(), height: HEIGHT, cursor: { drag: { x: false } }, scales: { x: { time: false } },
      legend: { markers: { dash: (_, at) => lines[at - 1]?.dash.length ? 'dashed' : 'solid' } },
      axes: [{ ...axis, label: 'simulated time', values: (_, marks) => marks.map(mark => mark ? latency(mark * 1e9) : '0') }, { ...axis, label: unit, size: 64 }],
      series: [{ label: 'at', value: (_, at) => shown(at, value => latency(value * 1e9)) },
        ...lines.map(({ name, at, dash }) => ({ label: name, stroke: colour(at), dash, width: 2, spanGaps: false, points: { filter: (plot, line, dense) => dense ? null : lone(plot.data[line]) }, value: (_, value) => shown(value, format) }))],
    }, [[], ...lines.map(() => [])], holder);
    const observer = new ResizeObserver(() => made.setSize({ width: width(), height: HEIGHT }));
    observer.observe(box);
    const drawing = () => chartFile(made, title, lines.map((line, at) => ({ ...line, points: points(made.data[0], made.data[at + 1]), dots: lone(made.data[at + 1]).map(of => [made.data[0][of], made.data[at + 1][of]]) })));
    const data = () => csv(['time (s)', ...lines.map(line => `${line.name} (${unit})`)], [...made.data]);
    readable(box, holder, made, `${title}, ${unit}`, lines, format);
    fileButtons(box, title, drawing, data);
    return { made, observer };
  }
  // Arrow keys move along the curves, and what they come to is told in words.
  function readable(box, holder, made, title, lines, format) {
    const readout = el('output', box);
    Object.entries({ tabindex: 0, role: 'group', 'aria-label': `${title}. Arrow keys move along the curves.` }).forEach(([name, value]) => holder.setAttribute(name, value));
    let at = null;
    holder.addEventListener('keydown', event => {
      const step = STEPS[event.key], [xs, ...values] = made.data;
      if (!step || !xs.length) return;
      event.preventDefault();
      at = Math.min(Math.max(at === null ? xs.length - 1 : at + step, 0), xs.length - 1);
      made.setCursor({ left: made.valToPos(xs[at], 'x'), top: 0 });
      readout.textContent = [`at ${latency(xs[at] * 1e9)}`, ...lines.map((line, of) => `${line.name}: ${shown(values[of][at], format)}`)].join('; ');
    });
    holder.addEventListener('blur', () => { readout.textContent = ''; });
  }
  // Two drives have windows of their own.
  const together = columns => columns.length > 1 ? uPlot.join(columns, columns.map(one => one.map(() => 2))) : columns[0];
  // `loaded`: whether all drives are past their preparation, so that they can be compared. `where`: which blocks are counted.
  function show(all, ended, loaded, where) {
    const two = all.length > 1;
    if (!charts.length) {
      about.textContent = `A value for each window of time that is over; a line is broken where there was nothing to measure, and a dot is a window between two such.${where ? ` Free blocks are those${where}.` : ''}${two ? ' Dashed: the drive beside it. In the last chart, its figures over those of the first drive.' : ''}`;
      charts = PLOTS.map(plot => chart(plot.title, plot.unit, all.flatMap((_, drive) => plot.lines.map(([label], at) => ({ name: named(label, drive), at, dash: drive ? BESIDE_DASH : [] }))), digits));
      if (two) charts.push(chart(APART.title, APART.unit, APART.lines.map(([name], at) => ({ name, at, dash: dash(at) })), value => value.toFixed(3)));
    }
    PLOTS.forEach((plot, at) => charts[at].made.setData(together(all.map(series => columnsOf(plot, series)))));
    if (two) charts.at(-1).made.setData(loaded && all.every(series => whole(series, ended)) ? apart(all, ended) : [[], ...APART.lines.map(() => [])]);
  }
  return { show, clear };
}

// The blocks: a row for each plane, of one or more lines; the colour is the state, its strength the share of valid pages.
function blocksOf(canvas, legend, about) {
  const STATE_INKS = [null, 2, 0, 1, 6, 7, 4], TALL = 360, [LEAST_SIDE, MOST_SIDE] = [4, 16], GAP = 4;
  // The largest cells that are not wider than high and fit the height: their height, and the lines of a plane.
  function layout(planes, cells, width) {
    for (let side = MOST_SIDE; ; side -= 1) {
      const lines = Math.ceil(cells / Math.max(Math.floor(width / side), 1)), gap = lines > 1 && planes > 1 ? GAP : 0;
      if (side === LEAST_SIDE || planes * (lines * side + gap) <= TALL) return { side, lines, columns: Math.ceil(cells / lines), tall: lines * side + gap };
    }
  }
  // What is drawn, and how it is laid out.
  let drawn = null;
  const inksOf = () => STATE_INKS.map(at => at === null ? css('--panel') : colour(at));
  function paint(pen) {
    const { blocks, cells, side, columns, tall, wide } = drawn, inks = inksOf();
    // These hold nothing, and are not pale for that.
    const plain = ['free', 'bad', 'dead'].map(name => blocks.states.indexOf(name));
    blocks.state.forEach((of, at) => {
      const plane = Math.floor(at / cells), cell = at % cells;
      pen.globalAlpha = plain.includes(of) ? 1 : 0.15 + 0.85 * blocks.valid[at] / 255;
      pen.fillStyle = inks[of];
      pen.fillRect(cell % columns * wide, plane * tall + Math.floor(cell / columns) * side, wide - (wide > 3 ? 0.6 : 0), side - 1);
    });
    pen.globalAlpha = 1;
  }
  // What is drawn, as a table.
  function table() {
    const { blocks, cells, row } = drawn, all = blocks.state.map((_, at) => at);
    const columns = [at => Math.floor(at / cells), at => at % cells, at => blocks.states[blocks.state[at]], at => (blocks.valid[at] / 255).toFixed(3), at => blocks.erases[at]];
    return csv([row, 'cell', 'state', 'valid_of_fullest', 'erases_max'], columns.map(column => all.map(column)));
  }
  function show(blocks, facts) {
    const cells = Math.max(blocks.per_plane, 1), planes = Math.max(blocks.state.length / cells, 1);
    const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
    const { side, lines, columns, tall } = layout(planes, cells, width);
    canvas.style.height = `${tall * planes}px`;
    [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(tall * planes * ratio)];
    const pen = canvas.getContext('2d'), wide = width / columns;
    pen.scale(ratio, ratio);
    const inks = inksOf(), group = facts.superblock;
    // Where the FTL fills superblocks, these are its blocks.
    const block = group ? 'superblock' : 'block';
    drawn = { blocks, facts, cells, side, columns, tall, wide, row: group ? 'group' : 'plane', block };
    paint(pen);
    if (!legend.firstChild) {
      blocks.states.forEach((name, at) => {
        const entry = el('span', legend);
        el('span', entry, 'ink').style.background = inks[at];
        entry.append(name);
      });
    }
    const row = group ? `group of ${group.dies} ${group.dies > 1 ? 'dies' : 'die'} with ${group.planes} ${group.planes > 1 ? 'planes' : 'plane'} of each, which are filled together` : 'plane';
    const cell = facts.blocks_per_plane === blocks.per_plane ? `each ${block}` : `some neighbouring ${block}s`;
    const counts = blocks.states.map((name, at) => [name, blocks.state.filter(of => of === at).length]).filter(([, count]) => count);
    const told = counts.map(([name, count]) => `${name} ${count.toLocaleString('en')}`).join(', ');
    pointer.mark(pen);
    about.textContent = `${lines > 1 ? `${lines} lines` : 'A row'} for each ${row}; a cell for ${cell}, the paler, the fewer valid pages. Cells: ${told}. Most erases of a ${block}: ${Math.max(0, ...blocks.erases)}.`;
  }
  // What is at a place of the picture.
  function tell({ x, y }) {
    const { blocks, facts, cells, side, columns, tall, wide, row, block } = drawn;
    const plane = Math.floor(y / tall), line = Math.floor((y - plane * tall) / side), column = Math.floor(x / wide);
    const cell = line * columns + column, at = plane * cells + cell;
    if (column >= columns || cell >= cells || at >= blocks.state.length) return null;
    const name = facts.blocks_per_plane === blocks.per_plane ? `${block} ${cell}` : `cell ${cell} of ${cells}`;
    return {
      text: `${row} ${plane}, ${name}: ${blocks.states[blocks.state[at]]}, valid pages: ${Math.round(blocks.valid[at] / 2.55)} % of the fullest cell's, erases: ${blocks.erases[at].toLocaleString('en')}`,
      box: [column * wide, plane * tall + line * side, wide, side],
    };
  }
  const pointer = pointed(canvas, { corner: [0, 0], steps: () => drawn ? [drawn.wide, drawn.side] : [0, 0], tell, redraw: () => { if (drawn) show(drawn.blocks, drawn.facts); } });
  pictureFiles(canvas, pen => { if (drawn) paint(pen); }, () => drawn ? table() : '');
  const clear = () => { legend.textContent = ''; };
  function blank() {
    clear();
    pointer.clear();
    drawn = null;
    about.textContent = '';
    canvas.width = canvas.height = 0;
    canvas.style.height = '0';
  }
  return { show, clear, blank };
}

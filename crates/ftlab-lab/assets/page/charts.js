// Line charts with a readout, arrow keys and files. Shared by the pages of results and of traces.

const roundLatency = ns => latency(ns).replace(/\.0+ /, ' ');
// Powers of ten, with their doubles and fivefolds if there is room for the labels.
function decades(from, to, width) {
  const few = Math.log10(to / from) * 3 * 80 < width;
  const marks = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.log10(to); power++) {
    for (const times of few ? [1, 2, 5] : [1]) {
      const mark = times * Math.pow(10, power);
      if (mark >= from && mark <= to) marks.push(mark);
    }
  }
  return marks;
}
function tick(value) {
  if (value !== 0 && (Math.abs(value) < 0.01 || Math.abs(value) >= 1e5)) return value.toExponential(1);
  return String(Number(value.toPrecision(4)));
}
// The last index whose number is not above `x`.
function place(numbers, x) {
  let low = 0, high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] <= x) low = middle + 1; else high = middle;
  }
  return low - 1;
}

// Charts on one page. `shared` names the lines of all charts that do not name their own; `toggles` shows and hides them everywhere.
function lineCharts(shared) {
  const HEIGHT = 300;
  const shown = shared.map(() => true);
  const charts = [];

  function toggles() {
    const field = document.getElementById('toggles');
    shared.forEach((name, at) => {
      const label = el('label', field);
      const box = el('input', label);
      box.type = 'checkbox';
      box.checked = true;
      const swatch = el('span', label, 'swatch');
      swatch.dataset.variant = at;
      label.append(name);
      box.addEventListener('change', () => {
        shown[at] = box.checked;
        charts.filter(one => !one.spec.names).forEach(one => one.plot.setSeries(at + 1, { show: box.checked }));
      });
    });
  }

  function paintSwatches() {
    document.querySelectorAll('.swatch').forEach(swatch => {
      paintSwatch(swatch, Number(swatch.dataset.variant));
    });
  }

  // A chart as it is shown.
  function vector({ plot, spec }) {
    const [xs, ...ys] = spec.aligned;
    const points = at => xs.flatMap((x, point) => {
      const value = ys[at][point];
      if (value === undefined || value === null && spec.gaps) return [];
      return [value === null ? null : [x, value]];
    });
    const series = namesOf(spec).map((name, at) => ({ name, at, dash: dash(at), points: points(at), ...(spec.dots ? { shape: 0 } : { stepped: true }) }));
    return chartFile(plot, spec.title, series.filter((_, at) => isShown(spec, at)));
  }
  // A line for each variant, or for each of a chart's own names.
  const namesOf = spec => spec.names ?? shared;
  const isShown = (spec, at) => spec.names ? true : shown[at];

  // `spec`: title, x (the name of the first column), names unless those that are shared, aligned (data for uPlot), dots (joined by lines; steps
  // without), gaps (whether they are bridged), scales, axes, at(x) -> [head, texts by line].
  function chart(parent, spec) {
    const box = el('div', parent, 'chart');
    el('h3', box, '', spec.title);
    if (spec.names?.length > 1) {
      const legend = el('div', box, 'names');
      spec.names.forEach((name, at) => {
        const entry = el('span', legend);
        el('span', entry, 'swatch').dataset.variant = at;
        entry.append(name);
      });
    }
    const holder = el('div', box, 'plot');
    holder.tabIndex = 0;
    holder.setAttribute('role', 'group');
    holder.setAttribute('aria-label', spec.title + '. Arrow keys move along the curve.');
    const readout = el('output', box);
    const made = { box, holder, readout, spec, plot: null, at: -1 };
    fileButtons(box, spec.title, () => vector(made), () => csv([spec.x, ...namesOf(spec)], spec.columns ? spec.columns() : spec.aligned));

    function say(x) {
      readout.textContent = '';
      if (x === null) return;
      const [head, texts] = spec.at(x);
      el('b', readout, '', head);
      texts.forEach((text, at) => {
        if (text !== null && isShown(spec, at)) {
          readout.append('; ');
          const part = el('span', readout, '', namesOf(spec)[at] + ': ' + text);
          part.dataset.variant = at;
        }
      });
    }
    function build() {
      if (made.plot) made.plot.destroy();
      const axis = { stroke: css('--ink'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line'), width: 1 } };
      made.plot = new uPlot({
        width: holder.clientWidth, height: HEIGHT, scales: spec.scales,
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        axes: [{ ...axis, ...spec.axes[0] }, { ...axis, size: 92, ...spec.axes[1] }],
        series: [{}].concat(namesOf(spec).map((name, at) => ({
          label: name, show: isShown(spec, at), stroke: colour(at), dash: dash(at), width: 2, spanGaps: spec.gaps,
          ...(spec.dots ? { points: { show: true, size: 6, fill: colour(at) } } : { points: { show: false }, paths: uPlot.paths.stepped({ align: 1, alignGaps: 1 }) }),
        }))),
        hooks: { setCursor: [plot => {
          const { left } = plot.cursor;
          say(left === undefined || left < 0 ? null : plot.posToVal(left, 'x'));
        }] },
      }, spec.aligned, holder);
    }
    made.build = build;
    holder.addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: 10, PageUp: -10 }[event.key];
      if (!step) return;
      event.preventDefault();
      const xs = spec.aligned[0];
      made.at = Math.min(Math.max(made.at < 0 ? Math.floor(xs.length / 2) : made.at + step, 0), xs.length - 1);
      const left = made.plot.valToPos(xs[made.at], 'x');
      made.plot.setCursor({ left: Math.max(left, 0), top: 10 });
      // The pixel may be slightly off the point.
      say(xs[made.at]);
    });
    build();
    charts.push(made);
  }

  // After all charts: paints the legends, and lets both follow the width and the colours of the page.
  function ready() {
    paintSwatches();
    const resized = new ResizeObserver(() => charts.forEach(({ plot, holder }) => {
      if (plot.width !== holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: HEIGHT });
    }));
    charts.forEach(({ holder }) => resized.observe(holder));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      paintSwatches();
      charts.forEach(made => made.build());
    });
  }
  return { chart, toggles, ready };
}

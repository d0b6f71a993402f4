// Draws the curves of a sweep from the data in the page: the chosen metric along an axis, a line for each value of
// another axis, and a panel for each combination of the rest.
(() => {
  const { axes, metrics } = JSON.parse(document.getElementById('data').textContent);
  const HEIGHT = 320;
  // More panels are too small to read, and slow to draw.
  const MOST_PANELS = 24;
  // Names below the axis need about this many pixels for each letter.
  const LETTER = 8;
  // The metric that is shown first, if the sweep has it.
  const FIRST = 'write_amplification.total';
  // How far apart lines are drawn whose values have names, as a share of the distance between names.
  const APART = 0.05;
  const pick = id => document.getElementById(id);
  const [metricBox, alongBox, linesBox, scaleBox] = ['metric', 'along', 'lines', 'scale'].map(pick);
  const panels = pick('panels'), legend = pick('legend');
  let charts = [];
  pick('drawings').hidden = false;

  // Names of values usually have their unit already.
  const named = axis => axis.unit && !axis.names.every(name => name.endsWith(axis.unit)) ? `${axis.label}, ${axis.unit}` : axis.label;
  const short = value => String(Number(value.toPrecision(4)));

  function told(value, unit) {
    if (unit === 'ns') return latency(value);
    if (!unit) return value.toFixed(3);
    return `${digits(value)} ${unit}`;
  }
  const tick = (value, unit) => unit === 'ns' ? latency(value).replace(/\.0+ /, ' ') : short(value);

  // The index of a point in the table: the last axis varies first.
  const index = place => axes.reduce((all, axis, at) => all * axis.names.length + place[at], 0);

  function option(box, value, text) {
    const made = el('option', box, '', text);
    made.value = value;
  }

  function fill() {
    metrics.forEach((metric, at) => option(metricBox, at, metric.name));
    metricBox.value = Math.max(metrics.findIndex(metric => metric.key === FIRST), 0);
    axes.forEach((axis, at) => option(alongBox, at, axis.label));
    if (linesBox) fillLines(1);
  }

  // Any axis but the horizontal one can have a line for each value.
  function fillLines(wanted) {
    linesBox.textContent = '';
    const others = axes.map((axis, at) => at).filter(at => at !== Number(alongBox.value));
    others.forEach(at => option(linesBox, at, axes[at].label));
    linesBox.value = others.includes(wanted) ? wanted : others[0];
  }

  // Positions on the horizontal axis; logarithms where the axis asks for them.
  function positions(axis) {
    if (!axis.numbers) return axis.names.map((_, at) => at);
    return axis.numbers.map(number => axis.log ? Math.log10(number) : number);
  }

  // All places of the axes in `open`, the last varying first.
  function places(open) {
    return open.reduce((all, at) => all.flatMap(place => axes[at].names.map((_, value) => ({ ...place, [at]: value }))), [{}]);
  }

  function drawAll() {
    charts.forEach(chart => chart.plot && chart.plot.destroy());
    charts = [];
    panels.textContent = legend.textContent = '';
    const metric = metrics[metricBox.value], along = Number(alongBox.value);
    if (!metric) return;
    const lines = linesBox ? Number(linesBox.value) : null;
    const rest = axes.map((_, at) => at).filter(at => at !== along && at !== lines);
    const all = places(rest);
    if (lines !== null) drawLegend(axes[lines]);
    all.slice(0, MOST_PANELS).forEach(fixed => draw({ metric, along, lines, fixed, rest, bounds: bounds(metric) }));
    if (all.length > MOST_PANELS) el('p', panels, 'small', `${all.length - MOST_PANELS} more panels are not drawn; the table has all points.`);
  }

  function drawLegend(axis) {
    el('b', legend, '', `${axis.label}:`);
    axis.names.forEach((name, at) => {
      const entry = el('span', legend);
      paintSwatch(el('span', entry, 'swatch'), at);
      paintShape(entry, at);
      entry.append(name);
    });
  }

  // All panels have the same vertical scale.
  function bounds(metric) {
    const values = metric.mean.concat(metric.low, metric.high).filter(value => value !== null);
    if (!values.length) return [0, 1];
    const low = Math.min(...values), high = Math.max(...values);
    const room = (high - low || Math.abs(high) || 1) * 0.06;
    const isLog = scaleBox.value === 'log';
    scaleBox.querySelector('[value=log]').disabled = low <= 0;
    if (isLog && low > 0) return [low / 1.1, high * 1.1];
    if (scaleBox.value === 'fit') return [low - room, high + room];
    return [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
  }

  function draw({ metric, along, lines, fixed, rest, bounds }) {
    const axis = axes[along], xs = positions(axis);
    const box = el('div', panels, 'panel chart');
    const title = rest.map(at => `${axes[at].label} ${axes[at].names[fixed[at]]}`).join(', ');
    if (title) el('h3', box, '', title);
    const holder = el('div', box, 'plot');
    holder.tabIndex = 0;
    holder.setAttribute('role', 'group');
    holder.setAttribute('aria-label', `${metric.name} along ${axis.label}. ${title} Arrow keys move along it.`);
    const readout = el('output', box);
    const names = lines === null ? [metric.name] : axes[lines].names;
    const order = xs.map((_, at) => at).sort((a, b) => xs[a] - xs[b]);
    const at = (line, value) => {
      const place = { ...fixed, [along]: value };
      if (lines !== null) place[lines] = line;
      return index(place);
    };
    // Dots over a name are drawn side by side.
    const shift = line => axis.numbers ? 0 : (line - (names.length - 1) / 2) * Math.min(APART, 0.4 / names.length);
    const dots = names.map((_, line) => order.map(value => ({ x: xs[value] + shift(line), value, point: at(line, value) })));
    const made = { holder, plot: null, at: -1 };

    function say(where) {
      readout.textContent = '';
      if (where < 0 || where >= order.length) return;
      el('b', readout, '', `${axis.label} ${axis.names[order[where]]}`);
      dots.forEach((line, at) => {
        const { point } = line[where], mean = metric.mean[point];
        if (mean === null) return;
        const low = metric.low[point], high = metric.high[point];
        const interval = low === null ? '' : ` (${told(low, metric.unit)} to ${told(high, metric.unit)})`;
        readout.append('; ');
        el('span', readout, '', `${names[at]}: ${told(mean, metric.unit)}${interval}`);
      });
    }

    // The place whose position is nearest to one on the horizontal axis.
    function nearest(x) {
      return order.reduce((best, value, at) => Math.abs(xs[value] - x) < Math.abs(xs[order[best]] - x) ? at : best, 0);
    }

    function intervals(plot) {
      const context = plot.ctx, scale = devicePixelRatio;
      context.save();
      context.lineWidth = 1.5 * scale;
      dots.forEach((line, at) => line.forEach(({ x, point }) => {
        const low = metric.low[point], high = metric.high[point];
        if (low === null) return;
        const left = plot.valToPos(x, 'x', true), cap = 4 * scale;
        const [top, bottom] = [high, Math.max(low, bounds[0])].map(y => plot.valToPos(y, 'y', true));
        context.strokeStyle = colour(at);
        context.beginPath();
        context.moveTo(left, top);
        context.lineTo(left, bottom);
        [top, bottom].forEach(y => { context.moveTo(left - cap, y); context.lineTo(left + cap, y); });
        context.stroke();
      }));
      context.restore();
    }

    // Points of different shapes, over the lines.
    function points(plot) {
      const context = plot.ctx, scale = devicePixelRatio;
      context.save();
      dots.forEach((line, at) => line.forEach(({ x, point }) => {
        const mean = metric.mean[point];
        if (mean === null) return;
        context.fillStyle = colour(at);
        context.fill(new Path2D(shape(at, plot.valToPos(x, 'x', true), plot.valToPos(mean, 'y', true), 4 * scale)));
      }));
      context.restore();
    }

    function drawing() {
      const series = names.map((name, at) => ({
        name, at, shape: at, dash: axis.numbers ? dash(at) : [3, 5],
        points: dots[at].map(({ x, point }) => metric.mean[point] === null ? null : [x, metric.mean[point]]),
        intervals: dots[at].flatMap(({ x, point }) => metric.low[point] === null ? [] : [[x, Math.max(metric.low[point], bounds[0]), metric.high[point]]]),
      }));
      return chartFile(made.plot, `${metric.name} ${title}`.trim(), series);
    }

    function table() {
      const of = (kind, line) => order.map(value => metric[kind][at(line, value)]);
      const heads = names.flatMap(name => [name, `${name} low`, `${name} high`]);
      const columns = names.flatMap((_, line) => ['mean', 'low', 'high'].map(kind => of(kind, line)));
      return csv([axis.label, ...heads], [order.map(value => axis.names[value]), ...columns]);
    }
    fileButtons(box, `${metric.name} ${title}`, drawing, table);

    // As many names of values as there is room for.
    function labels(plot) {
      const width = Math.max(...axis.names.map(name => name.length)) * LETTER + 12;
      const kept = [];
      order.forEach(value => {
        const left = plot.valToPos(xs[value], 'x');
        if (!kept.length || left - kept[kept.length - 1].left >= width) kept.push({ left, value });
      });
      return kept.map(one => xs[one.value]);
    }

    function build() {
      if (made.plot) made.plot.destroy();
      const line = { stroke: css('--ink'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line'), width: 1 } };
      const [first, last] = [Math.min(...xs), Math.max(...xs)], edge = (last - first || 1) * (axis.numbers ? 0.04 : 0.15);
      const series = names.map((name, at) => ({
        label: name, stroke: colour(at), width: axis.numbers ? 2 : 1, dash: axis.numbers ? dash(at) : [3, 5], spanGaps: true,
        points: { show: false },
      }));
      // One list of positions for all lines; where a line has no dot there is a gap.
      const all = [...new Set(dots.flat().map(dot => dot.x))].sort((a, b) => a - b);
      const values = dots.map(line => all.map(x => {
        const dot = line.find(one => one.x === x);
        return dot ? metric.mean[dot.point] : undefined;
      }));
      const text = value => axis.names[xs.indexOf(value)] ?? '';
      made.plot = new uPlot({
        width: holder.clientWidth, height: HEIGHT,
        scales: {
          x: { time: false, range: [first - edge, last + edge] },
          y: { range: bounds, distr: scaleBox.value === 'log' && bounds[0] > 0 ? 3 : 1 },
        },
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        axes: [
          { ...line, label: named(axis), labelSize: 22, size: 40, splits: plot => labels(plot), values: (_, splits) => splits.map(text) },
          { ...line, label: metric.name, labelSize: 22, size: 76, values: (_, splits) => splits.map(value => value === null ? '' : tick(value, metric.unit)) },
        ],
        series: [{}].concat(series),
        hooks: {
          // Beneath the lines and dots.
          drawAxes: [intervals],
          draw: [points],
          setCursor: [plot => say(plot.cursor.left < 0 ? -1 : nearest(plot.posToVal(plot.cursor.left, 'x')))],
        },
      }, [all, ...values], holder);
    }
    holder.addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (!step) return;
      event.preventDefault();
      made.at = Math.min(Math.max(made.at < 0 && step === 1 ? 0 : made.at + step, 0), order.length - 1);
      made.plot.setCursor({ left: made.plot.valToPos(xs[order[made.at]], 'x'), top: 10 });
      say(made.at);
    });
    made.build = build;
    build();
    charts.push(made);
    resized.observe(holder);
  }

  const resized = new ResizeObserver(() => charts.forEach(({ plot, holder }) => {
    if (plot.width !== holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: HEIGHT });
  }));
  fill();
  drawAll();
  [metricBox, scaleBox].forEach(box => box.addEventListener('change', drawAll));
  if (linesBox) linesBox.addEventListener('change', drawAll);
  alongBox.addEventListener('change', () => {
    if (linesBox) fillLines(Number(linesBox.value));
    drawAll();
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', drawAll);
})();

// Draws the figures of a reproduction from the data in the page.
(() => {
  const figures = JSON.parse(document.getElementById('data').textContent);
  const HEIGHT = 320;
  // This few values are all labelled.
  const FEW = 8;
  const charts = [];

  const withUnit = (value, unit) => unit ? `${digits(value)} ${unit}` : digits(value);

  function legend(parent, figure) {
    figure.series.forEach((name, at) => {
      const entry = el('span', parent);
      el('span', entry, 'swatch').dataset.series = at;
      entry.append(name);
      const across = figure.panels.map(panel => panel.references[at]).find(one => one);
      if (across) {
        const line = el('span', parent);
        el('span', line, 'across').dataset.series = at;
        line.append(across.name);
      }
    });
    // The source of the numbers; null is the paper.
    const origins = new Set(figure.panels.flatMap(panel => panel.printed.map(mark => mark.origin)));
    origins.forEach(origin => {
      const entry = el('span', parent);
      el('span', entry, origin === null ? 'diamond' : 'ring');
      entry.append(origin === null ? 'printed in the paper' : `numbers of ${origin}`);
    });
  }

  // Everything in a panel must fit; the axis starts at zero unless something is below it.
  function range(panel) {
    const values = panel.points.flat().flatMap(dot => [dot.y, dot.low ?? dot.y, dot.high ?? dot.y])
      .concat(panel.references.filter(one => one).map(one => one.y), panel.printed.map(mark => mark.y));
    const low = Math.min(0, ...values), high = Math.max(0, ...values);
    const room = (high - low || 1) * 0.06;
    return [low < 0 ? low - room : 0, high > 0 ? high + room : 0];
  }

  function diamond(context, x, y, size) {
    context.beginPath();
    context.moveTo(x, y - size);
    context.lineTo(x + size, y);
    context.lineTo(x, y + size);
    context.lineTo(x - size, y);
    context.closePath();
    context.fill();
    context.stroke();
  }

  function ring(context, x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.stroke();
  }

  // Intervals, reference lines and printed numbers, drawn over the curves.
  function overlay(plot, panel) {
    const context = plot.ctx, scale = devicePixelRatio;
    const x = value => plot.valToPos(value, 'x', true), y = value => plot.valToPos(value, 'y', true);
    const { left, top, width, height } = plot.bbox;
    context.save();
    context.beginPath();
    context.rect(left - 8 * scale, top, width + 16 * scale, height);
    context.clip();
    panel.references.forEach((across, at) => {
      if (!across) return;
      context.strokeStyle = colour(at);
      context.lineWidth = 1.5 * scale;
      context.setLineDash([6 * scale, 4 * scale]);
      context.beginPath();
      context.moveTo(left, y(across.y));
      context.lineTo(left + width, y(across.y));
      context.stroke();
    });
    context.setLineDash([]);
    panel.points.forEach((dots, at) => dots.forEach(dot => {
      if (dot.low === null) return;
      context.strokeStyle = plot.series[at + 1].bars ? css('--ink') : colour(at);
      context.lineWidth = 1.5 * scale;
      context.beginPath();
      context.moveTo(x(dot.x), y(dot.low));
      context.lineTo(x(dot.x), y(dot.high));
      context.stroke();
    }));
    panel.printed.forEach(mark => {
      context.lineWidth = 1.5 * scale;
      const bars = plot.series[mark.series + 1].bars;
      context.fillStyle = bars ? css('--ground') : colour(mark.series);
      context.strokeStyle = mark.origin === null || bars ? css('--ink') : colour(mark.series);
      if (mark.origin === null) diamond(context, x(mark.x), y(mark.y), 5 * scale);
      else ring(context, x(mark.x), y(mark.y), 6 * scale);
    });
    context.restore();
  }

  // The labels of the horizontal axis: round numbers, and the values set apart from the scale.
  function ticks(figure, plot, splits) {
    const apart = figure.ticks.filter(tick => tick.apart).map(tick => tick.x);
    const numbers = figure.ticks.filter(tick => !tick.apart).map(tick => tick.x);
    const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
    return splits.filter(value => value >= low && value <= high).concat(apart);
  }

  function draw(parent, figure, panel) {
    const bars = figure.kind === 'bars', curves = figure.kind === 'curves';
    const box = el('div', parent, 'panel chart');
    if (panel.title) el('h4', box, '', panel.title);
    const holder = el('div', box, 'plot');
    holder.tabIndex = 0;
    holder.setAttribute('role', 'group');
    holder.setAttribute('aria-label', `${figure.title} ${panel.title}. Arrow keys move along it.`);
    const readout = el('output', box);
    const xs = [...new Set(panel.points.flat().map(dot => dot.x))].sort((a, b) => a - b);
    const values = panel.points.map(dots => xs.map(x => dots.find(dot => dot.x === x)?.y ?? null));
    const places = figure.ticks.map(tick => tick.x);
    const edge = bars ? 1 + (figure.series.length - 1) / 2 : (Math.max(...places) - Math.min(...places) || 1) * 0.03;
    const ends = [Math.min(...places) - edge, Math.max(...places) + edge];
    const bounds = range(panel);
    const made = { holder, plot: null, at: -1 };

    function say(index) {
      readout.textContent = '';
      if (index === null || index === undefined || !xs.length) return;
      const x = xs[index];
      const here = panel.points.flat().find(dot => dot.x === x);
      el('b', readout, '', here.name);
      panel.points.forEach((dots, at) => {
        const dot = dots.find(one => one.x === x);
        if (!dot) return;
        let text = `${figure.series[at]}: ${withUnit(dot.y, figure.unit)}`;
        if (dot.low !== null) text += ` (${digits(dot.low)} to ${digits(dot.high)})`;
        const printed = panel.printed.filter(mark => mark.series === at && mark.x === x);
        printed.forEach(mark => { text += `, ${mark.origin ?? 'paper'} ${withUnit(mark.y, figure.unit)}`; });
        readout.append('; ');
        el('span', readout, '', text).dataset.series = at;
      });
    }

    function build() {
      if (made.plot) made.plot.destroy();
      const line = { stroke: css('--ink'), grid: { stroke: css('--line'), width: 1 }, ticks: { stroke: css('--line'), width: 1 } };
      const named = figure.ticks.filter(tick => tick.apart);
      const series = figure.series.map((name, at) => ({
        label: name, stroke: colour(at), width: 2, spanGaps: true,
        ...(bars
          ? { fill: colour(at), points: { show: false }, bars: true, paths: uPlot.paths.bars({ size: [1, Infinity], align: 0 }) }
          : { points: { show: !curves, size: 5, fill: colour(at) }, ...(curves ? { width: 1.25 } : {}) }),
      }));
      made.plot = new uPlot({
        width: holder.clientWidth, height: HEIGHT,
        scales: { x: { time: false, range: ends }, y: { range: bounds } },
        legend: { show: false },
        cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
        axes: [
          {
            ...line, label: figure.x_label, labelSize: 22, size: 40,
            splits: (plot, axis, low, high, step, space) => {
              const numbers = [];
              if (named.length < figure.ticks.length) {
                const own = figure.ticks.filter(tick => !tick.apart).map(tick => tick.x);
                if (!curves && own.length <= FEW) numbers.push(...own);
                else for (let at = Math.ceil(low / step) * step; at <= high; at += step) numbers.push(at);
              }
              return ticks(figure, plot, numbers).sort((a, b) => a - b);
            },
            values: (plot, splits) => splits.map(value => named.find(tick => tick.x === value)?.name ?? String(Number(value.toPrecision(6)))),
            grid: { ...line.grid, show: !bars },
          },
          { ...line, label: figure.y_label, labelSize: 22, size: 64, values: (_, splits) => splits.map(value => String(Number(value.toPrecision(6)))) },
        ],
        series: [{}].concat(series),
        hooks: {
          draw: [plot => overlay(plot, panel)],
          setCursor: [plot => say(plot.cursor.idx)],
        },
      }, [xs, ...values], holder);
    }
    holder.addEventListener('keydown', event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (!step || !xs.length) return;
      event.preventDefault();
      made.at = Math.min(Math.max(made.at < 0 && step === 1 ? 0 : made.at + step, 0), xs.length - 1);
      made.plot.setCursor({ left: made.plot.valToPos(xs[made.at], 'x'), top: 10 });
      say(made.at);
    });
    function drawing() {
      const step = Math.min(...xs.slice(1).map((x, at) => x - xs[at]), 1);
      const series = figure.series.map((name, at) => ({
        name, at, points: panel.points[at].map(dot => [dot.x, dot.y]), across: panel.references[at]?.y,
        intervals: panel.points[at].filter(dot => dot.low !== null).map(dot => [dot.x, dot.low, dot.high]),
        marks: panel.printed.filter(mark => mark.series === at).map(mark => [mark.x, mark.y, mark.origin === null ? DIAMOND : 0]),
        ...(bars ? { bar: step } : curves ? {} : { shape: 0 }),
      }));
      return chartFile(made.plot, `${figure.title} ${panel.title}`.trim(), series);
    }
    function table() {
      const of = (dots, x, kind) => dots.find(dot => dot.x === x)?.[kind] ?? null;
      const printed = (at, x) => panel.printed.find(mark => mark.series === at && mark.x === x)?.y ?? null;
      const heads = figure.series.flatMap(name => [name, `${name} low`, `${name} high`, `${name} printed`]);
      const columns = panel.points.flatMap((dots, at) => [...['y', 'low', 'high'].map(kind => xs.map(x => of(dots, x, kind))), xs.map(x => printed(at, x))]);
      const names = xs.map(x => panel.points.flat().find(dot => dot.x === x).name);
      return csv([figure.x_label || 'x', ...heads], [names, ...columns]);
    }
    fileButtons(box, `${figure.title} ${panel.title}`, drawing, table);
    made.build = build;
    build();
    charts.push(made);
  }

  function paintLegends() {
    document.querySelectorAll('.swatch').forEach(one => paintSwatch(one, Number(one.dataset.series), []));
    document.querySelectorAll('.across').forEach(one => { one.style.borderTopColor = colour(Number(one.dataset.series)); });
  }

  // Heat maps are drawn already; their tables follow them, in the same order.
  document.querySelectorAll('.maps').forEach(maps => {
    const tables = maps.parentElement.querySelectorAll('details table');
    maps.querySelectorAll('.map').forEach((box, at) => {
      const drawn = box.querySelector('svg'), title = drawn.getAttribute('aria-label').split('. ')[0];
      const text = cell => cell.textContent;
      fileButtons(box, title, () => {
        const copy = drawn.cloneNode(true);
        copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
        copy.setAttribute('font-family', 'sans-serif');
        copy.setAttribute('font-size', '14');
        copy.querySelectorAll('text.half').forEach(one => one.setAttribute('font-size', '11'));
        return copy.outerHTML + '\n';
      }, () => {
        const rows = [...tables[at].querySelectorAll('tbody tr')].map(row => [...row.children].map(text));
        const heads = [...tables[at].querySelectorAll('thead th')].map(text);
        return csv(heads, heads.map((_, column) => rows.map(row => row[column])));
      });
    });
  });

  figures.forEach((figure, at) => {
    const section = document.querySelector(`[data-figure="${at}"]`);
    legend(section.querySelector('.legend'), figure);
    figure.panels.forEach(panel => draw(section.querySelector('.panels'), figure, panel));
  });
  paintLegends();

  const resized = new ResizeObserver(() => charts.forEach(({ plot, holder }) => {
    if (plot.width !== holder.clientWidth) plot.setSize({ width: holder.clientWidth, height: HEIGHT });
  }));
  charts.forEach(({ holder }) => resized.observe(holder));
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
    paintLegends();
    charts.forEach(made => made.build());
  });
})();

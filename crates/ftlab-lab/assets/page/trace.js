// Draws the figures of what traces are like from the data in the page.
(() => {
  const { loads, groups } = JSON.parse(document.getElementById('data').textContent);
  const { chart, toggles, ready } = lineCharts(loads);
  document.getElementById('drawings').hidden = false;
  // Pixels of a label on the horizontal axis.
  const LABEL = 70;
  // A vertical logarithmic axis has room for as many marks as a horizontal one this wide, because labels are low.
  const TALL = 900;
  const powers = (base, from, to) => Array.from({ length: to - from + 1 }, (_, at) => Math.pow(base, from + at));

  // The largest unit that fits a value, as [its size, its name].
  const unitOf = (units, value) => units.findLast(([size]) => Math.abs(value) >= size * 0.9995) ?? units[0];
  // Decimal, as in all other output.
  const BYTES = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'].map((name, at) => [Math.pow(1000, at), name]);
  const [SECOND, MINUTE, HOUR, DAY] = [1e9, 60e9, 3600e9, 86400e9];
  const TIMES = [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [SECOND, 's'], [MINUTE, 'min'], [HOUR, 'h'], [DAY, 'd']];
  const inUnit = (units, value, sizeOf = value) => {
    const [size, name] = unitOf(units, sizeOf);
    return `${Number((value / size).toPrecision(4))} ${name}`;
  };
  // Two units, where one would hide much: 3 min 20 s.
  function span(ns) {
    if (ns < 2 * MINUTE) return inUnit(TIMES.slice(0, 4), ns);
    const [size, name] = unitOf(TIMES, ns), [less, lesser] = TIMES[TIMES.findIndex(([one]) => one === size) - 1];
    const parts = Math.round(ns / less), ratio = size / less, rest = parts % ratio;
    return `${Math.floor(parts / ratio)} ${name}${rest ? ` ${rest} ${lesser}` : ''}`;
  }

  // By unit: the text of a value, the steps of a linear axis, and the marks of a logarithmic one.
  const DECIMAL = powers(10, -3, 18).flatMap(power => [1, 2, 5].map(times => times * power));
  const short = value => Math.abs(value) < 1 ? String(Number(value.toPrecision(3))) : digits(value);
  const decimal = (suffix, told = short) => ({
    told: value => (Number.isInteger(value) ? value.toLocaleString('en') : told(value)) + suffix,
    label: value => (Math.abs(value) < 1 ? short(value) : tick(value)) + suffix, steps: DECIMAL, marks: decades, base: 10,
  });
  // What is nearly all must not seem to be all.
  const share = value => Math.abs(value) < 1 ? short(value) : value.toFixed(2);
  const amount = suffix => {
    const told = value => inUnit(BYTES, value) + suffix;
    return { told, label: told, steps: DECIMAL, marks: decades, base: 10 };
  };
  const MARKS = [...powers(10, 0, 10), MINUTE, 10 * MINUTE, HOUR, 10 * HOUR, DAY, 10 * DAY, 100 * DAY];
  const UNITS = {
    '': decimal(''), '1/s': decimal(' /s'), '%': decimal(' %', share), B: amount(''), 'B/s': amount('/s'),
    ns: {
      told: span, base: 10,
      label: (value, step) => inUnit(TIMES, value, step),
      steps: [...DECIMAL.filter(ns => ns < 20e9), 30e9, ...[1, 2, 5, 10, 15, 30].map(n => n * MINUTE), ...[1, 2, 3, 6, 12].map(n => n * HOUR), ...[1, 2, 7, 14, 28, 56, 112].map(n => n * DAY)],
      marks: (from, to, width) => {
        const marks = MARKS.filter(mark => mark >= from && mark <= to), every = Math.max(1, Math.ceil(marks.length * LABEL / width));
        return marks.filter((_, at) => at % every === 0);
      },
    },
  };

  // The scale and the axis of uPlot for an axis of a panel with these values.
  function horizontal(axis, values) {
    const unit = UNITS[axis.unit], [first, last] = [Math.min(...values), Math.max(...values)];
    const room = axis.log ? 1.05 : 0;
    const ends = axis.log ? [first / room, last * room] : [first, Math.max(last, first + 1)];
    const text = (value, step) => axis.zero === value ? '0' : unit.label(value, step);
    // What is counted begins at one.
    const least = axis.unit ? ends[0] : Math.max(1, ends[0]);
    const splits = axis.ticks || axis.log ? plot => {
      const width = plot.bbox.width / devicePixelRatio, marks = axis.ticks ?? unit.marks(least, ends[1], width);
      const beyondZero = mark => Math.log(mark / axis.zero) / Math.log(ends[1] / axis.zero) * width > LABEL * 0.8;
      return axis.zero ? [axis.zero, ...marks.filter(beyondZero)] : marks;
    } : undefined;
    return {
      scale: { time: false, range: ends, ...(axis.log ? { distr: 3, log: unit.base } : {}) },
      axis: {
        label: axis.label, labelSize: 22, size: 40, space: LABEL, incrs: unit.steps, ...(splits ? { splits } : {}), filter: (_, all) => all,
        values: (_, all, at, space, step) => all.map(value => text(value, splits ? value : step)),
      },
    };
  }
  // It fits what is shown, so that the smaller of two loads can be seen alone.
  function vertical(axis) {
    const unit = UNITS[axis.unit];
    if (axis.log) {
      return {
        scale: { distr: 3, range: (_, low, high) => [(low ?? 1) / 1.3, (high ?? 1) * 1.3] },
        axis: { splits: ({ scales: { y } }) => unit.marks(y.min, y.max, TALL), filter: (_, all) => all, values: (_, all) => all.map(value => unit.label(value)) },
      };
    }
    const isShare = axis.unit === '%';
    return {
      scale: { range: (_, low, high) => [0, (isShare ? 100 : high || 1) * 1.04] },
      axis: { incrs: unit.steps, values: (_, all) => all.map(value => isShare && value > 100 ? '' : unit.label(value)) },
    };
  }

  function draw(parent, { title, x, y, drawn, lines }) {
    const known = lines.flatMap(line => line.x);
    // A logarithmic axis has a place for zero before everything else.
    const positive = known.filter(value => value > 0);
    const zero = x.log && positive.length < known.length ? Math.min(...positive) / 2 : null;
    const placed = lines.map(line => line.x.map(value => value === 0 && zero !== null ? zero : value));
    const aligned = uPlot.join(lines.map((line, at) => [placed[at], line.y]));
    const [xs] = aligned, isDots = drawn !== 'steps', unit = UNITS[x.unit], told = UNITS[y.unit].told;
    const across = horizontal({ ...x, zero }, placed.flat()), up = vertical(y);
    const distance = (a, b) => Math.abs(x.log ? Math.log(a / b) : a - b);
    // Steps hold up to the next one; dots are told where the nearest one is.
    const nearest = value => isDots ? xs.reduce((best, one, at) => distance(one, value) < distance(xs[best], value) ? at : best, 0) : Math.max(0, place(xs, value));
    const value = (at, here) => {
      const line = placed[at], before = place(line, here);
      const is = before >= 0 && (isDots ? line[before] === here : here <= line[line.length - 1]);
      return is ? lines[at].y[before] : null;
    };
    chart(parent, {
      title, aligned, dots: isDots, gaps: false,
      names: loads.length > 1 ? null : lines.map(line => line.name || y.label),
      x: x.unit ? `${x.label}, ${x.unit}` : x.label,
      columns: () => [xs.map(one => one === zero ? 0 : one), ...aligned.slice(1)],
      scales: { x: across.scale, y: up.scale },
      axes: [across.axis, up.axis],
      at: where => {
        const here = xs[nearest(where)], found = lines.map((_, at) => value(at, here));
        return [`${x.label} ${here === zero ? '0' : unit.told(here)}`, found.map(one => one === null ? null : told(one))];
      },
    });
  }

  if (loads.length > 1) toggles();
  groups.forEach((panels, at) => {
    const parent = document.querySelector(`[data-group="${at}"]`);
    panels.forEach(panel => draw(parent, panel));
  });
  ready();
})();

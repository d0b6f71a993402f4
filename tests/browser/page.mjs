// Opens the page of a comparison in a real browser and checks that its drawings match its data.
// usage: node page.mjs BROWSER COMPARE_FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, embedded, end, parsed, picture, read, taken } from './check.mjs';

const comparison = read('compare.json');

// Pixels of a canvas within `selector` in the colour of a variant.
const painted = (page, selector, variant) => page.evaluate(([selector, variant]) => {
  const canvas = copyOf(document.querySelector(selector));
  const pixels = canvas.getImageData(0, 0, canvas.canvas.width, canvas.canvas.height).data;
  return coloured(pixels, variant);
}, [selector, variant]);
const FIRST = '#latencies .chart:first-child';

await check('the tables say what compare.json says', {}, async page => {
  const tables = await page.$$eval('table[data-variant]', all => all.map(table => ({
    variant: Number(table.dataset.variant),
    rows: [...table.querySelectorAll('tbody tr')].map(row => [row.dataset.metric, ...[...row.querySelectorAll('data')].map(one => one.value)]),
  })));
  assert.equal(tables.length, comparison.variants.length - 1);
  for (const { variant, rows } of tables) {
    const expected = comparison.metrics
      .filter(metric => metric.variants[0].mean !== null || metric.variants[variant].mean !== null)
      .map(metric => [metric.id, metric.variants[0].mean, metric.variants[variant].mean, metric.variants[variant].change?.estimate ?? null]);
    assert.equal(rows.length, expected.length);
    rows.forEach(([id, ...values], at) => {
      const numbers = values.map(value => value === '' ? null : Number(value));
      assert.deepEqual([id, ...numbers], expected[at]);
    });
  }
  // The displayed text shows the metric's value; this one has a simple format.
  const amplification = comparison.metrics.find(metric => metric.id === 'report/write_amplification/total_ratio');
  const text = await page.textContent('table[data-variant] tr[data-metric="report/write_amplification/total_ratio"] td');
  assert.equal(text, amplification.variants[0].mean.toFixed(3));
});

await check('every curve is drawn, and none that is not wanted', {}, async page => {
  const data = await embedded(page);
  assert.deepEqual(data.variants, comparison.variants.map(variant => variant.name));
  assert.ok(data.latencies.length >= 1 && data.time.length === data.variants.length);
  assert.equal(await page.locator('#latencies .chart').count(), data.latencies.length);
  assert.equal(await page.locator('#toggles input').count(), data.variants.length);
  assert.equal(await page.locator('#maps .map').count(), data.variants.length);
  for (const [at] of data.variants.entries()) {
    const before = await painted(page, `${FIRST} canvas`, at);
    assert.ok(before > 30, `variant ${at} has ${before} pixels`);
    await page.locator('#toggles input').nth(at).uncheck();
    assert.equal(await painted(page, `${FIRST} canvas`, at), 0, `variant ${at} is gone`);
    await page.locator('#toggles input').nth(at).check();
    assert.equal(await painted(page, `${FIRST} canvas`, at), before, `variant ${at} is back`);
  }
  for (const id of await page.$$eval('#time .chart h3', all => all.map((_, at) => at))) {
    const canvas = `#time .chart:nth-child(${id + 1}) canvas`;
    const pixels = await Promise.all(data.variants.map((_, at) => painted(page, canvas, at)));
    assert.ok(pixels.some(count => count > 30), `chart ${id} is not empty: ${pixels}`);
  }
  await picture(page, 'wide-light');
});

// Parses a share of requests as shown on the page.
const shareOf = text => Number(text.match(/([\d.]+) %$/)[1]) / 100;

await check('the table at a glance says what compare.json says', {}, async page => {
  const rows = await page.$$eval('.glance tbody tr', all => all.map(row => [...row.children].map(cell => cell.firstChild.textContent)));
  assert.deepEqual(rows.map(row => row[0]), comparison.variants.map(variant => variant.name));
  assert.ok(rows[0].length > 4, rows[0].join());
  const points = await page.$$eval('.glance svg', all => all.map(drawing => {
    const [circle, zero] = [drawing.querySelector('circle'), drawing.querySelector('.zero')];
    return [drawing.getAttribute('aria-label'), Number(circle.getAttribute('cx')) - Number(zero.getAttribute('x1'))];
  }));
  assert.ok(points.length > 0);
  for (const [label, right] of points) {
    // A point lies on the side of its sign.
    if (/^\+\d*[1-9]/.test(label)) assert.ok(right >= 0, label);
    if (/^-\d*[1-9]/.test(label)) assert.ok(right <= 0, label);
  }
});

await check('every figure can be taken along', {}, async page => {
  const chart = page.locator('#time .chart').last();
  assert.match(await chart.locator('h3').textContent(), /free blocks.*share of the time/);
  const data = await embedded(page);
  const first = page.locator(FIRST);
  const [head, ...rows] = (await taken(page, first, 'CSV')).trim().split('\n');
  assert.ok(head.startsWith('latency_ns,'), head);
  assert.equal(rows.length, data.latencies[0].ns.length);
  const last = rows[rows.length - 1].split(',').map(Number);
  assert.equal(last[0], data.latencies[0].ns[rows.length - 1]);
  data.variants.forEach((_, at) => {
    const beyond = data.latencies[0].beyond[at];
    if (beyond.length) assert.ok(Math.abs(last[at + 1] - (1 - beyond[rows.length - 1])) < 1e-12);
  });
  for (const one of [first, chart]) {
    const drawn = await taken(page, one, 'SVG');
    const { count: paths, text, fault } = await parsed(page, drawn, 'svg svg path');
    assert.equal(fault, undefined);
    assert.equal(paths, data.variants.length);
    data.variants.forEach(name => assert.ok(text.includes(name), name));
  }
});

await check('pointing at a curve tells its value', {}, async page => {
  const data = await embedded(page);
  const over = page.locator(`${FIRST} .u-over`);
  await over.scrollIntoViewIfNeeded();
  const box = await over.boundingBox();
  const { ns, beyond } = data.latencies[0];
  for (const part of [0.15, 0.5, 0.9]) {
    await page.mouse.move(box.x + box.width * part, box.y + box.height / 2);
    const x = Math.exp(Math.log(ns[0]) + part * Math.log(ns[ns.length - 1] / ns[0]));
    const said = await page.$$eval(`${FIRST} output span`, all => all.map(one => [Number(one.dataset.variant), one.textContent]));
    assert.equal(said.length, beyond.filter(one => one.length).length);
    for (const [variant, text] of said) {
      // The pointer is between two points, or within a pixel of one.
      const near = ns.map((value, at) => [Math.abs(Math.log(value / x)), at]).sort((a, b) => a[0] - b[0]).slice(0, 4);
      const fits = near.some(([, at]) => {
        const beyondHere = beyond[variant][at];
        return Math.abs(shareOf(text) - (1 - beyondHere)) <= Math.max(0.06 * beyondHere, 1e-9);
      });
      assert.ok(fits, `${text} at ${x} ns`);
      assert.ok(text.startsWith(data.variants[variant] + ': '));
    }
  }
});

await check('the keyboard reaches everything', {}, async page => {
  const data = await embedded(page);
  const { ns, beyond } = data.latencies[0];
  await page.locator('#toggles input').first().focus();
  await page.keyboard.press('Space');
  assert.equal(await page.locator('#toggles input').first().isChecked(), false);
  await page.keyboard.press('Space');
  await page.locator(`${FIRST} .plot`).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  const at = Math.floor(ns.length / 2) + 1;
  const said = await page.$$eval(`${FIRST} output span`, all => all.map(one => [Number(one.dataset.variant), one.textContent]));
  assert.ok(said.length > 0);
  for (const [variant, text] of said) {
    assert.ok(Math.abs(shareOf(text) - (1 - beyond[variant][at])) <= Math.max(0.06 * beyond[variant][at], 1e-9), text);
  }
  const map = data.maps[0];
  await page.locator('#maps .map canvas').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.textContent('#maps .map:first-child output'), new RegExp(`^die 0, block .*: ${String(map.measured_erases[1]).replace('.', '\\.')}$`));
  // From the top of the page, Tab reaches the tables, the boxes, the charts and the maps.
  const reached = new Set();
  await page.evaluate(() => { document.activeElement.blur(); window.scrollTo(0, 0); });
  for (let step = 0; step < 80; step++) {
    await page.keyboard.press('Tab');
    reached.add(await page.evaluate(() => document.activeElement.className || document.activeElement.tagName));
  }
  for (const wanted of ['wide', 'INPUT', 'plot', 'SELECT', 'CANVAS', 'SUMMARY']) {
    assert.ok([...reached].some(name => name.split(' ').includes(wanted)), `${wanted} is not among ${[...reached]}`);
  }
});

await check('the maps show each block', {}, async page => {
  const data = await embedded(page);
  for (const [at, map] of data.maps.entries()) {
    assert.equal(map.erases.length, map.rows * map.columns);
    const canvas = page.locator('#maps .map > canvas').nth(at);
    for (const what of ['measured_erases', 'erases', 'collections', 'valid']) {
      await page.selectOption('#heat', what);
      const box = await canvas.boundingBox();
      const [column, row] = [Math.floor(map.columns * 0.6), Math.floor(map.rows / 2)];
      await canvas.hover({ position: { x: (column + 0.5) / map.columns * box.width, y: (row + 0.5) / map.rows * box.height } });
      const tip = await page.locator('#maps .map').nth(at).locator('.tip').textContent();
      assert.equal(tip.split(': ')[1], String(map[what][row * map.columns + column]));
    }
  }
  // Different values have different colours.
  await page.selectOption('#heat', 'valid');
  const colours = await page.evaluate(() => {
    const canvas = copyOf(document.querySelector('#maps .map > canvas'));
    const pixels = canvas.getImageData(0, 0, canvas.canvas.width, canvas.canvas.height).data;
    const found = new Set();
    for (let at = 0; at < pixels.length; at += 4) found.add(pixels.slice(at, at + 3).join());
    return found.size;
  });
  const values = new Set(data.maps[0].valid).size;
  assert.ok(colours > 1 && colours <= values, `${colours} colours for ${values} values`);
});

// Contrast as WCAG 2.2 defines it.
const contrasts = page => page.evaluate(() => {
  const linear = value => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = text => {
    const [r, g, b] = text.match(/[\d.]+/g).slice(0, 3).map(value => linear(Number(value) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/^rgba\(.*, 0\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  document.querySelectorAll('details').forEach(one => { one.open = true; });
  const texts = [...document.querySelectorAll('h1, h2, h3, p, td, th, li, label, legend, summary, pre, dt, dd, select, caption, .scale span')];
  const low = texts.map(one => [ratio(light(getComputedStyle(one).color), light(ground(one))), one.tagName]).sort((a, b) => a[0] - b[0])[0];
  const page = light(getComputedStyle(document.body).backgroundColor);
  const curves = [...document.querySelectorAll('.swatch')].map(one => ratio(light(getComputedStyle(one).color), page));
  return { text: low, curves: Math.min(...curves), page };
});

for (const colorScheme of ['light', 'dark']) {
  await check(`it can be read in ${colorScheme}`, { colorScheme }, async page => {
    const { text, curves, page: ground } = await contrasts(page);
    assert.ok(text[0] >= 4.5, `text: ${text}`);
    assert.ok(curves >= 3, `curves: ${curves}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    assert.ok(await painted(page, `${FIRST} canvas`, 0) > 30, 'the curves have the colours of the scheme');
    await picture(page, colorScheme);
  });
}

await check('a change of the scheme is followed', { colorScheme: 'light' }, async page => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.waitForFunction(() => getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)');
  assert.ok(await painted(page, `${FIRST} canvas`, 0) > 30);
});

for (const width of [375, 1600]) {
  await check(`it fits ${width} pixels`, { viewport: { width, height: 800 } }, async page => {
    const inner = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
    assert.ok(inner[0] <= inner[1], `${inner[0]} wide in ${inner[1]}`);
    const outside = await page.$$eval('.chart, .map, fieldset, select, .plot canvas', all => all.filter(one => one.getBoundingClientRect().right > innerWidth + 0.5).map(one => one.className || one.tagName));
    assert.deepEqual(outside, []);
    await picture(page, `width-${width}`);
  });
}

await check('charts follow the width of the window', {}, async page => {
  await page.setViewportSize({ width: 500, height: 800 });
  await page.waitForFunction(() => document.querySelector('.plot .uplot').offsetWidth <= 500);
});

await check('without JavaScript the tables are there', { javaScriptEnabled: false }, async page => {
  assert.ok(await page.locator('table').first().isVisible());
  assert.ok(await page.locator('noscript').first().textContent());
  assert.equal(await page.locator('#drawings').isVisible(), false);
});

await end();

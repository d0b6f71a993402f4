// Opens the page of one result, with several tenants, in a real browser.
// usage: node report.mjs BROWSER FOLDER [FOLDER_FOR_PICTURES]
import assert from 'node:assert/strict';
import { check, contrast, embedded, end, fits, parsed, picture, read, taken } from './check.mjs';

const result = read('out/result.json');
const at = id => id.split('/').reduce((value, part) => value?.[part], result);

await check('it opens with the main figures, and has all of them', {}, async page => {
  const tiles = await page.$$eval('.tiles div', all => all.map(one => [...one.children].map(part => part.textContent)));
  assert.ok(tiles.length >= 5, String(tiles.length));
  assert.ok(tiles.every(([name, value]) => name && /\d/.test(value)), JSON.stringify(tiles));
  const rows = await page.$$eval('.columns tr[data-metric]', all => all.map(row => [row.dataset.metric, Number(row.querySelector('data').value)]));
  assert.ok(rows.length > 25, String(rows.length));
  for (const [id, value] of rows) assert.equal(value, at(id), id);
  const total = at('report/energy/total_j');
  const parts = ['read_j', 'program_j', 'erase_j', 'transfer_j'].map(part => at(`report/energy/${part}`));
  assert.ok(Math.abs(total - parts.reduce((a, b) => a + b)) < 1e-9 * total && total > 0);
});

await check('nothing leaves the right half empty', { viewport: { width: 1500, height: 1000 } }, async page => {
  const reach = selector => page.$eval(selector, one => {
    const right = [...one.querySelectorAll('table, .chart')].map(part => part.getBoundingClientRect().right);
    return Math.max(...right) / document.documentElement.clientWidth;
  });
  for (const selector of ['.columns', '#latencies', '#time', '#tenants']) {
    assert.ok(await reach(selector) > 0.85, `${selector} reaches ${await reach(selector)}`);
  }
  const last = await page.$eval('#time > :last-child', one => one.getBoundingClientRect().right / document.documentElement.clientWidth);
  assert.ok(last > 0.85, `the last chart reaches ${last}`);
  await picture(page, 'report');
});

await check('tenants have their names and their curves', {}, async page => {
  const tenants = result.report.host.queues.map(queue => queue.tenants.join(' + '));
  const { queues } = await embedded(page);
  assert.deepEqual(queues.names, tenants);
  assert.equal(await page.locator('#tenants .chart').count(), 2);
  for (const [queue, name] of tenants.entries()) {
    assert.ok((await page.locator('#tenants .names').first().textContent()).includes(name));
    const pixels = await page.evaluate(queue => {
      const copy = copyOf(document.querySelector('#tenants canvas'));
      return coloured(copy.getImageData(0, 0, copy.canvas.width, copy.canvas.height).data, queue);
    }, queue);
    assert.ok(pixels > 30, `${name}: ${pixels}`);
  }
  const [head, ...rows] = (await taken(page, '#tenants .chart:first-child', 'CSV')).trim().split('\n');
  assert.equal(head, `time_s,${tenants.join(',')}`);
  assert.equal(rows.length, queues.s.length);
  const drawn = await parsed(page, await taken(page, '#tenants .chart:first-child', 'SVG'), 'svg svg path');
  assert.deepEqual([drawn.count, drawn.fault], [tenants.length, undefined]);
});

await check('a map can be taken along', {}, async page => {
  const [map] = (await embedded(page)).maps, cells = map.rows * map.columns;
  assert.equal((await taken(page, '#maps .map', 'CSV')).trim().split('\n').length, cells + 1);
  const drawn = await parsed(page, await taken(page, '#maps .map', 'SVG'), 'rect');
  assert.deepEqual([drawn.count, drawn.fault], [cells, undefined]);
});

for (const colorScheme of ['light', 'dark']) {
  await check(`it can be read in ${colorScheme}`, { colorScheme }, async page => {
    const { lowest } = await contrast(page);
    assert.ok(lowest >= 4.5, `text: ${lowest}`);
    await picture(page, `report-${colorScheme}`);
  });
}

for (const width of [360, 1600]) {
  await check(`it fits ${width} pixels`, { viewport: { width, height: 800 } }, async page => {
    await fits(page);
    await picture(page, `report-${width}`);
  });
}

await end();

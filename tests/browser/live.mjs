// Opens the live page of a made-up drive in a real browser, reads its numbers and gives every order.
// usage: node live.mjs BROWSER ADDRESS [FOLDER_FOR_PICTURES]
// The last check stops the server.
import assert from 'node:assert/strict';
import { check, contrast, end, fits, picture } from './check.mjs';

const DIES = 32, CHARTS = 6;
const text = (page, where) => page.locator(where).innerText();
const arrived = page => page.waitForFunction(() => /MB\/s/.test(document.getElementById('tiles').textContent));
const told = (page, pattern) => page.waitForFunction(source => new RegExp(source).test(document.getElementById('told').textContent), pattern.source);
const banner = (page, pattern) => page.waitForFunction(source => {
  const place = document.getElementById('banner');
  return !place.hidden && new RegExp(source).test(place.textContent);
}, pattern.source, { timeout: 15000 });
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();

for (const colorScheme of ['light', 'dark']) {
  await check(`numbers, curves, dies and tables appear, ${colorScheme}`, { colorScheme }, async page => {
    await arrived(page);
    const reading = await page.evaluate(async () => (await fetch('/api/reading')).json());
    assert.equal(await text(page, '#name'), reading.device.name);
    assert.match(await text(page, '#facts'), /power on/);
    assert.equal(await page.locator('.die').count(), DIES);
    const row = await page.locator('#smart tr', { hasText: 'Power cycles' }).innerText();
    assert.equal(row.split('\t')[1], String(reading.smart.power_cycles));
    const curves = await page.evaluate(() => [...document.querySelectorAll('.chart > svg')].map(one => Math.min(...[...one.querySelectorAll('.curve')].map(curve => curve.getAttribute('d').length))));
    assert.equal(curves.length, CHARTS);
    assert.ok(curves.every(length => length > 1000), String(curves));
    assert.equal(await page.evaluate(() => document.querySelector('.chart').textContent.includes('NaN')), false);
    const { lowest, ground } = await contrast(page);
    assert.ok(lowest >= 4.5, `contrast ${lowest}`);
    assert.equal(ground < 0.2, colorScheme === 'dark');
    await picture(page, `live-${colorScheme}`);
  });
}

await check('numbers move on', {}, async page => {
  await arrived(page);
  const before = await text(page, '#facts');
  await page.waitForFunction(before => document.getElementById('facts').innerText !== before, before);
});

await check('all curves can be read at one time, with a pointer and with keys', {}, async page => {
  await arrived(page);
  const legends = () => page.evaluate(() => [...document.querySelectorAll('.chart .legend')].map(one => one.textContent));
  const chart = page.locator('.chart > svg').first(), box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(count => document.querySelectorAll('.chart .cursor').length === count, CHARTS);
  const middle = await legends();
  await page.mouse.move(0, 0);
  await page.waitForFunction(() => !document.querySelector('.chart .cursor'));
  await chart.focus();
  await page.keyboard.press('Home');
  await page.waitForFunction(count => document.querySelectorAll('.chart .cursor').length === count, CHARTS);
  assert.notDeepEqual(await legends(), middle);
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => !document.querySelector('.chart .cursor'));
});

await check('the wear map tells each place', {}, async page => {
  await arrived(page);
  const box = await page.locator('#wear').boundingBox();
  await page.mouse.move(box.x + 1, box.y + 1);
  assert.match(await text(page, '#wear-told'), /^Die 0, plane 0, near block 0: \d+(\.\d)? erases on average$/);
  await page.locator('#wear').focus();
  await page.keyboard.press('ArrowDown');
  assert.match(await text(page, '#wear-told'), /^Die 0, plane 1, /);
});

await check('power is cut, once and again and again', {}, async page => {
  await arrived(page);
  await press(page, 'Cut power');
  await told(page, /power was cut/);
  await banner(page, /Power is cut/);
  await page.waitForFunction(() => document.getElementById('banner').hidden, null, { timeout: 10000 });
  assert.ok(await page.locator('.chart .cut').count() > 0, 'cuts are marked');
  await page.locator('#every').fill('60.5');
  await press(page, 'Start');
  await told(page, /plan/);
  await page.waitForFunction(() => /every 60.5 s/.test(document.getElementById('facts').textContent));
  await press(page, 'Stop cuts');
  await page.waitForFunction(() => !/every/.test(document.getElementById('facts').textContent));
});

await check('a die is killed on the second click only', {}, async page => {
  await arrived(page);
  await press(page, 'Kill die');
  assert.equal(await text(page, '#kill'), 'Kill die', 'no die is chosen');
  await page.locator('.die[aria-label^="Die 9 "]').click();
  assert.equal(await page.locator('#die').inputValue(), '9');
  await press(page, 'Kill die');
  assert.equal(await text(page, '#told'), '');
  await press(page, 'Really kill die 9?');
  await told(page, /the die is dead/);
  await banner(page, /Dead: die 9/);
  assert.match(await page.locator('.die.dead').getAttribute('aria-label'), /^Die 9 on channel 1: dead/);
});

await check('the clock is set, the drive is saved, and refusals are told', {}, async (page, complaints) => {
  await arrived(page);
  await page.locator('#clock').selectOption('scaled:2');
  await press(page, 'Set');
  await page.waitForFunction(() => /clock scaled:2/.test(document.getElementById('facts').textContent));
  await press(page, 'Save');
  await told(page, /the drive is saved/);
  await page.locator('#every').evaluate(input => { input.min = ''; input.step = 'any'; input.value = '0.01'; });
  await press(page, 'Start');
  await told(page, /refused: every_ms is 10; allowed/);
  assert.match(complaints.splice(0).join(), /^Failed to load resource: .*400/);
});

await check('what other pages can send is refused', {}, async (page, complaints) => {
  await arrived(page);
  // What a page elsewhere can send without the browser asking first.
  const status = await page.evaluate(async () => (await fetch('/api/stop', { method: 'POST', body: '{}', headers: { 'Content-Type': 'text/plain' } })).status);
  assert.equal(status, 415);
  assert.match(complaints.splice(0).join(), /^Failed to load resource: .*415/);
});

await check('it fits a telephone', { viewport: { width: 360, height: 800 }, deviceScaleFactor: 3, hasTouch: true }, async page => {
  await arrived(page);
  await fits(page);
  await picture(page, 'live-narrow');
});

await check('a lost connection shows', {}, async (page, complaints) => {
  await arrived(page);
  await press(page, 'Save and stop');
  await press(page, 'Really stop the server?');
  await told(page, /the server stops/);
  await banner(page, /Connection lost/);
  assert.match(await text(page, '#facts'), /not connected/);
  assert.ok(complaints.splice(0).every(one => /ERR_(CONNECTION|EMPTY)/.test(one)));
  await picture(page, 'live-lost');
});

await end();

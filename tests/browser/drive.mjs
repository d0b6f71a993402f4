// Opens the live page of a served drive, to which a client writes without end, and gives it orders.
// usage: node drive.mjs BROWSER ADDRESS [FOLDER_FOR_PICTURES]
// The last check stops the server.
import assert from 'node:assert/strict';
import { check, end, picture } from './check.mjs';

const text = (page, where) => page.locator(where).innerText();
const press = (page, name) => page.getByRole('button', { name, exact: true }).click();
const told = (page, pattern) => page.waitForFunction(source => new RegExp(source).test(document.getElementById('told').textContent), pattern.source);
const reading = page => page.evaluate(async () => (await fetch('/api/reading')).json());
// Waits until a row of a table shows more than a number.
const above = (page, table, name, least) => page.waitForFunction(([table, name, least]) => {
  const row = [...document.querySelectorAll(`#${table} tr`)].find(row => row.cells[0].textContent === name);
  return row && Number(row.cells[1].textContent.replace(/\D/g, '')) > least;
}, [table, name, least]);

await check('figures of the drive appear and grow', {}, async page => {
  await above(page, 'host', 'Writes', 0);
  const before = await reading(page);
  assert.equal(await text(page, '#name'), before.device.name);
  assert.equal(await page.locator('.die').count(), before.device.dies);
  assert.ok(before.flash.programs.some(one => one.pages > 0), 'pages were programmed');
  await above(page, 'host', 'Writes', before.host.writes + 100);
  const after = await reading(page);
  assert.ok(after.smart.host_bytes_written > before.smart.host_bytes_written);
  assert.ok(after.device.simulated_now_ns > before.device.simulated_now_ns);
  await page.waitForFunction(() => /MB\/s/.test(document.getElementById('tiles').children[1].textContent));
  await picture(page, 'drive');
});

await check('a power cut is carried out and counted', {}, async page => {
  await above(page, 'host', 'Writes', 0);
  const { power, smart } = await reading(page);
  await press(page, 'Cut power');
  await told(page, /power/);
  await above(page, 'power', 'Cuts', power.cuts);
  await above(page, 'smart', 'Unsafe shutdowns', smart.unsafe_shutdowns);
  const { host } = await reading(page);
  // The client comes back.
  await above(page, 'host', 'Writes', host.writes);
});

await check('a drive that recovers refuses to lose a die, and says why', {}, async (page, complaints) => {
  await above(page, 'host', 'Writes', 0);
  await page.locator('.die').first().click();
  await press(page, 'Kill die');
  await press(page, 'Really kill die 0?');
  await told(page, /refused: [^]*ftl.recovery.policy/);
  assert.ok((await reading(page)).dies.every(die => die.state !== 'dead'));
  assert.match(complaints.splice(0).join(), /^Failed to load resource: .*4\d\d/);
});

await check('it is saved and stopped', {}, async (page, complaints) => {
  await above(page, 'host', 'Writes', 0);
  await press(page, 'Save');
  await told(page, /flash|saved/);
  await press(page, 'Save and stop');
  await press(page, 'Really stop the server?');
  await told(page, /stops|ends/);
  await page.waitForFunction(() => /Connection lost/.test(document.getElementById('banner').textContent), null, { timeout: 15000 });
  assert.ok(complaints.splice(0).every(one => /ERR_(CONNECTION|EMPTY)/.test(one)));
});

await end();

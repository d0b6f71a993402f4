// Goes through the guided tours of the page that ./x web makes: BROWSER FOLDER.
import assert from 'node:assert/strict';
import { check, finish, open, state } from './web_page.mjs';

// What each tour has to tell as its price.
const PRICES = { cliff: /blocks are erased/, spare: /costs capacity/, reads: /Writes pay/, separation: /costs memory/, channels: /costs wear/, packed: /It has a price/, cost: /Higher: reads, 99 of 100: /, power: /without capacitors/, parity: /writes fell/ };

await check('every tour runs to its end and shows what it claims', async () => {
  const { page, close } = await open(null);
  const tours = await page.$$eval('#tour option', options => options.map(option => option.value).filter(Boolean));
  assert.equal(tours.length, 9);
  for (const tour of tours) {
    await page.selectOption('#tour', tour);
    while (await page.$('#tour-next')) {
      await page.click('#tour-next');
      await page.waitForFunction(() => document.querySelector('#tour-next:not([aria-disabled=true])') || document.getElementById('tour-answer'), null, { timeout: 120000 });
    }
    const answer = await page.textContent('#tour-answer');
    console.log(`  ${tour}: ${answer}`);
    assert.equal(await page.textContent('#notes').then(text => /ftl\.cost\.prior/.test(text)), false, 'the runs of a tour can be compared');
    assert.match(answer, PRICES[tour] ?? /\d/);
    assert.equal(await page.getAttribute('#guide', 'data-holds'), 'true', tour);
  }
  await close();
});

await check('another tour may be chosen while one runs', async () => {
  const { page, close } = await open(null);
  await page.selectOption('#tour', 'cost');
  await page.click('#tour-next');
  await page.waitForFunction(() => document.getElementById('play').textContent === 'Pause');
  await page.selectOption('#tour', 'spare');
  await page.waitForSelector('#tour-next:not([aria-disabled=true])');
  await page.click('#tour-next');
  // What there is to look at stays there until one goes on.
  await page.waitForFunction(() => document.getElementById('tour-next').textContent === 'Go on', null, { timeout: 60000 });
  assert.match(await page.textContent('#guide'), /1 of 2: A full and aged drive[^]*how this step ended/);
  await page.click('#tour-next');
  await page.waitForFunction(() => document.querySelector('.look').textContent.startsWith('2 of 2'), null, { timeout: 60000 });
  await close();
});

await check('a tour ends when the knobs are turned, and keeps the place of a keyboard', async () => {
  const { page, close } = await open(null);
  await page.selectOption('#tour', 'cliff');
  await page.focus('#tour-next');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('tour-next').textContent === 'Go on', null, { timeout: 60000 });
  assert.equal(await page.evaluate(() => document.activeElement.id), 'tour-next');
  await page.evaluate(() => { document.getElementById('what').open = true; });
  await page.fill('#seed', '5');
  await page.dispatchEvent('#seed', 'change');
  await state(page, 'ready');
  assert.match(await page.textContent('#guide'), /The tour ended[^]*1 of 2/);
  assert.equal(await page.textContent('#tour-next'), 'Begin');
  // It begins with its own plan.
  await page.click('#tour-next');
  await page.waitForFunction(() => document.getElementById('tour-next').textContent === 'Go on', null, { timeout: 60000 });
  assert.equal(await page.inputValue('#seed'), '1');
  await close();
});

await finish('web_tours.mjs');

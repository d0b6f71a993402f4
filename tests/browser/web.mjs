// Runs drives in the page that ./x web makes, and compares them with the program: BROWSER FOLDER, and FTLAB names the
// program.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { check, downloaded, file, finish, open, pixels, scratch, setSpeed, state } from './web_page.mjs';

// As it is before Binaryen makes it a tenth smaller.
const MOST_PACKED = 2.2e6;

// Compares results of the page with those of the commands that it shows, as they stand there.
async function equals(page, buttons, name) {
  const commands = (await page.textContent('#command')).split('\n');
  assert.equal(commands.length, buttons.length);
  const results = [];
  for (const [at, button] of buttons.entries()) {
    const seen = JSON.parse(await downloaded(page, button)), output = join(scratch, `${name}-${at}`);
    execFileSync(process.env.FTLAB, [...commands[at].split(' ').slice(1), '-q', '-o', output]);
    const expected = JSON.parse(readFileSync(join(output, 'result.json'), 'utf8'));
    for (const key of Object.keys(seen)) assert.deepEqual(seen[key], expected[key], `${commands[at]}: ${key}`);
    results.push(seen);
  }
  return results;
}
// Compares the result with that of the command with the workload file that the page hands out.
async function equalsWithLoad(page, name) {
  const seen = JSON.parse(await downloaded(page, 'Result')), path = join(scratch, name), output = join(scratch, `of-${name}`);
  writeFileSync(path, await downloaded(page, 'Workload file'));
  const command = (await page.textContent('#command')).split(' ').slice(1).map(word => word === name ? path : word);
  execFileSync(process.env.FTLAB, [...command, '-q', '-o', output]);
  assert.deepEqual(seen.report, JSON.parse(readFileSync(join(output, 'result.json'), 'utf8')).report);
  return seen;
}
const PLANS = [
  { device: 'tiny', set: [], options: { precondition: 'fill,age', requests: '3000' }, workload: 'randwrite-4k', seed: '7' },
  { device: 'tiny', set: ['ftl.gc.victim=cost-benefit'], options: { precondition: 'fill', requests: '3000' }, workload: 'mixed-70-30-zipf', seed: '1' },
  { device: 'tiny', set: [], options: { requests: '2000' }, workload: 'noisy-neighbour', seed: '2' },
  { device: 'tlc-32g', set: ['nand.pages_per_block=24'], options: { precondition: 'fill', requests: '20000' }, workload: 'mixed-70-30-zipf', seed: '3' },
  { device: 'rw-scheduler', set: [], options: { requests: '2000' }, workload: 'rw-scheduler-80', seed: '4' },
  { device: 'channel-management', set: [], options: { requests: '2000' }, workload: 'randwrite-4k', seed: '5' },
  { device: 'prlru', set: [], options: { queue_depth: '8', requests: '2000' }, workload: 'randwrite-4k', seed: '6' },
  { device: 'cosmos-openssd', set: [], options: { requests: '1000' }, workload: 'randwrite-4k', seed: '7' },
  { device: 'agcr', set: [], options: { requests: '2000' }, workload: 'randwrite-4k', seed: '8' },
  { device: 'mqsim', set: [], options: { queue_depth: '3', requests: '2000' }, workload: 'randwrite-4k', seed: '9' },
];

await check('ten runs equal those of the program', async () => {
  for (const [at, plan] of PLANS.entries()) {
    const { page, close } = await open(plan);
    await page.click('#play');
    await state(page, 'ended');
    await equals(page, ['Result'], String(at));
    await close();
  }
});

await check('two drives side by side equal two runs of the program, and their difference is drawn', async () => {
  const plan = { device: 'tiny', set: ['ftl.over_provisioning=28%'], beside: ['ftl.over_provisioning=60%', 'ftl.gc.victim=cost-benefit'], options: { precondition: 'fill,age', requests: '20000' }, workload: 'randwrite-4k', seed: '7' };
  const { page, close } = await open(plan);
  await page.click('#play');
  await state(page, 'ended');
  const results = await equals(page, ['Result', 'Result, beside'], 'beside');
  const [first, second] = results.map(result => result.report.write_amplification.total_ratio);
  assert.ok(second < first * 0.8, `${first} and ${second}`);
  // Write amplification is that of the results.
  const tile = await page.$$eval('#tiles div:nth-child(13) > *', all => all.map(one => one.textContent));
  assert.deepEqual(tile.slice(0, 2), ['Write amplification', first.toFixed(3)]);
  assert.match(tile[2], new RegExp(`^beside ${second.toFixed(3)} ×0\\.\\d+$`));
  assert.match(await page.textContent('#time-about'), /Dashed: the drive beside it/);
  assert.ok(await page.$$eval('#time .chart:first-child .u-marker', all => all.at(-1).style.border.includes('dashed')), 'the legend shows it');
  // So are notes: those of both, once.
  const noted = ({ report, warnings, assumed }) => report.notes.length + warnings.length + assumed.length;
  assert.equal(await page.$$eval('#notes li', all => all.length), noted(results[0]));
  // The last value of the difference is that of the whole run.
  const apart = await downloaded(page, 'CSV', 4), last = apart.trim().split('\n').at(-1).split(',').map(Number);
  const bytes = results.map(({ report }) => report.host.write.throughput_mb_per_s);
  assert.ok(Math.abs(last[1] / (bytes[1] / bytes[0]) - 1) < 0.1, `${last[1]} is about ${bytes[1] / bytes[0]}`);
  assert.match(await downloaded(page, 'SVG', 4), /^<svg[^]*pages programmed/);
  // A file of a chart tells what is drawn, and in which units.
  assert.match(await downloaded(page, 'SVG', 0), /<text[^>]*font-weight="bold">Throughput<[^]*>simulated time<[^]*>MB\/s</);
  assert.match(await downloaded(page, 'CSV', 0), /^time \(s\),reads \(MB\/s\),writes \(MB\/s\),"?reads, beside/);
  // A pace holds for both.
  await page.click('#restart');
  await state(page, 'ready');
  await setSpeed(page, 13);
  await page.click('#play');
  await page.waitForTimeout(1500);
  await page.click('#play');
  await state(page, 'paused');
  assert.ok(await page.isVisible('#strip-second'));
  // 20 ms a second, for a second and a half; the last frame may not have come to the pace.
  const times = await page.evaluate(() => {
    const units = { ns: 1e-6, us: 1e-3, ms: 1, s: 1e3 };
    const [, first] = document.querySelectorAll('#tiles div:first-child > *'), second = first.nextElementSibling;
    return [first.textContent, second.textContent.replace(/^beside /, '').replace(/ ×.*/, '')].map(text => { const [value, unit] = text.split(' '); return Number(value) * units[unit]; });
  });
  assert.ok(Math.abs(times[0] - times[1]) < 2, `${times} ms`);
  assert.ok(times[0] > 5 && times[0] < 60, `${times} ms`);
  // A wrong option of the second is told as one of the second.
  await page.evaluate(() => { document.getElementById('beside').closest('details').open = true; });
  await page.fill('#beside', 'nand.blocks=3');
  await page.dispatchEvent('#beside', 'change');
  await page.waitForFunction(() => document.getElementById('error').textContent.startsWith('the drive beside it: error: nand.blocks'));
  await page.fill('#beside', '');
  await page.dispatchEvent('#beside', 'change');
  await state(page, 'ready');
  assert.ok(!await page.isVisible('#strip-second'));
  await close();
});

await check('shares of busy time are told by purpose, and do not depend on when the page looks', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { precondition: 'fill,age', requests: '3000' }, workload: 'randwrite-4k', seed: '7' });
  const drawn = async () => ({
    counts: [await pixels(page, '--v0'), await pixels(page, '--v1')],
    about: await page.textContent('#strip-about'),
    image: await page.evaluate(() => document.getElementById('strip').toDataURL()),
  });
  const run = async () => {
    await page.click('#play');
    await state(page, 'ended');
    await page.waitForTimeout(200);
    return drawn();
  };
  const whole = await run();
  // More than half of the time is collection, and most of the rest is the host's.
  assert.ok(whole.counts[1] > whole.counts[0] && whole.counts[0] > 1000, `${whole.counts} pixels`);
  const [host, collection] = ['host', 'collection'].map(name => Number(new RegExp(`${name} ([\\d.]+) %`).exec(whole.about)[1]));
  assert.ok(collection > 50 && host > 10 && host + collection < 100.1, whole.about);
  // The last window is not over, and would look like a fall: it is in the file of all windows, and not drawn.
  const windows = (await downloaded(page, 'CSV')).trim().split('\n').length;
  assert.equal((await downloaded(page, 'CSV', 0)).trim().split('\n').length, windows - 1);
  // In many small pieces it is the same.
  await page.click('#restart');
  await state(page, 'ready');
  await setSpeed(page, 18);
  await page.click('#play');
  await page.waitForTimeout(400);
  await page.click('#play');
  await state(page, 'paused');
  assert.deepEqual(await run(), whole);
  await close();
});

await check('the screen moves while a drive works, and its memory is bounded', async () => {
  const { page, close } = await open({ device: 'tlc-32g', set: [], options: { precondition: 'fill', requests: '30000000' }, workload: 'mixed-70-30-zipf', seed: '1' });
  await page.click('#play');
  await page.waitForFunction(() => Number(document.querySelector('#tiles div:nth-child(3) b')?.textContent.replaceAll(',', '')) > 0, null, { timeout: 60000 });
  const measure = () => page.evaluate(() => new Promise(done => {
    const began = performance.now();
    let frames = 0;
    const count = now => { frames += 1; now - began < 2000 ? requestAnimationFrame(count) : done(frames / (now - began) * 1000); };
    requestAnimationFrame(count);
  }));
  const rate = await measure();
  console.log(`  ${rate.toFixed(1)} frames a second`);
  assert.ok(rate > 20, `only ${rate} frames a second, on a machine that does other work too`);
  const memory = () => page.evaluate(() => document.querySelector('#tiles div:last-child b').textContent);
  const before = await memory();
  await page.waitForTimeout(3000);
  const after = await memory();
  console.log(`  memory ${before}, then ${after}`);
  assert.equal(after, before, 'memory does not grow');
  await page.click('#play');
  await state(page, 'paused');
  await close();
});

await check('a slow pace shows operations, steps go one by one, and a run stops at a collection', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { precondition: 'fill', requests: '100000' }, workload: 'randwrite-4k', seed: '1' });
  await setSpeed(page, 10);
  await page.click('#play');
  await page.waitForTimeout(2500);
  await page.click('#play');
  await state(page, 'paused');
  const told = await page.textContent('#strip-about');
  assert.match(told, /of simulated time/);
  const coloured = await pixels(page, '--v0');
  assert.ok(coloured > 500, `operations are drawn: ${coloured} pixels`);
  const time = () => page.textContent('#tiles div:first-child b');
  const before = await time();
  await page.click('#step');
  await page.waitForFunction(text => document.querySelector('#tiles b').textContent !== text && document.getElementById('state').textContent === 'one step', before);
  await setSpeed(page, 25);
  await page.selectOption('#stop', 'collection');
  await page.click('#play');
  await state(page, 'stopped: a collection begins');
  await close();
});

await check('a run stops when the SLC cache is full, and when a die dies', async () => {
  const stops = async (name, text, set, workload) => {
    const { page, close } = await open({ device: 'tiny', set, options: { requests: '20000' }, workload, seed: '7' });
    await page.selectOption('#stop', name);
    await page.click('#play');
    await state(page, `stopped: ${text}`);
    const [ms, requests] = await page.$$eval('#tiles b', all => [0, 2].map(at => parseFloat(all[at].textContent.replaceAll(',', ''))));
    return { page, close, ms, requests };
  };
  const cache = await stops('slc_cache_full', 'the SLC cache is full', ['ftl.over_provisioning=60%', 'ftl.slc_cache.policy=static', 'ftl.slc_cache.blocks=4'], 'randwrite-4k');
  // A third of 32 pages in each of four blocks of eight planes.
  assert.ok(cache.requests > 200 && cache.requests < 700, `${cache.requests} requests`);
  await cache.close();
  const die = await stops('die_death', 'a die dies', ['ftl.over_provisioning=120%', 'ftl.placement.policy=dynamic', 'nand.faults.schedule=100ms: die 1 dies'], 'mixed-70-30-zipf');
  assert.ok(die.ms >= 100 && die.ms < 110, `${die.ms} ms`);
  await die.page.click('#play');
  await state(die.page, 'ended');
  await die.close();
});

await check('a preparation without a clock tells how far it is, pauses, and gives way to another run', async () => {
  const { page, close } = await open({ device: 'tlc-32g', set: [], options: { precondition: 'fill,age', requests: '1000' }, workload: 'randwrite-4k', seed: '1' });
  await page.click('#play');
  const told = text => page.waitForFunction(start => document.getElementById('state').textContent.startsWith(start), text, { timeout: 60000 });
  await told('age: ');
  await page.click('#play');
  await state(page, 'paused');
  const doing = () => page.textContent('#tiles div:nth-child(2) b');
  await page.waitForTimeout(500);
  const before = await doing();
  await page.waitForTimeout(500);
  assert.equal(await doing(), before, 'it stands still');
  await page.click('#play');
  await page.waitForFunction(text => document.querySelector('#tiles div:nth-child(2) b').textContent !== text, before);
  const began = performance.now();
  await page.selectOption('#device', 'tiny');
  await state(page, 'ready');
  console.log(`  another run is ready after ${Math.round(performance.now() - began)} ms`);
  await close();
});

await check('a policy that knows the future gives what the program does', async () => {
  const { page, close } = await open({ device: 'tiny', set: ['nand.blocks_per_plane=128', 'ftl.streams.policy=future'], options: { requests: '20000' }, workload: 'mixed-70-30-zipf', seed: '7' });
  await page.click('#play');
  await state(page, 'ended');
  await equals(page, ['Result'], 'future');
  await close();
});

await check('purposes and superblocks are those of the library', async () => {
  const { page, close } = await open({ device: 'tlc-32g', set: [], options: { requests: '2000' }, workload: 'randwrite-4k', seed: '1' });
  const purposes = await page.$$eval('#strip-legend span:not(.ink):not(.small)', all => all.map(one => [one.textContent, one.firstChild.style.background]));
  assert.deepEqual(purposes.map(([name]) => name), ['host', 'read-modify-write', 'collection', 'care of blocks', 'fold of the SLC cache', 'rewrite', 'system area']);
  assert.equal(new Set(purposes.map(([, ink]) => ink).filter(Boolean)).size, purposes.length, 'each has a colour of its own');
  await page.click('#play');
  await state(page, 'ended');
  // Blocks of all dies and planes are filled together, so there is one group.
  const about = () => page.textContent('#blocks-about');
  assert.match(await about(), /lines for each group of 16 dies with 2 planes of each, [^]*; a cell for each superblock/);
  await page.selectOption('#device', 'tiny');
  await state(page, 'ready');
  await page.click('#play');
  await state(page, 'ended');
  assert.match(await about(), /^A row for each plane; a cell for each block,/);
  await close();
});

await check('what is wrong is told, and the page lives on', async () => {
  const { page, close } = await open({ device: 'tiny', set: ['nand.blocks=3'], options: {}, workload: 'randwrite-4k', seed: '1' });
  assert.match(await page.textContent('#error'), /nand\.blocks: unknown option[^]*remedy/);
  // What a link names and the page does not offer is told as well.
  for (const [more, told] of [[{ device: 'nosuch' }, 'there is no preset "nosuch"'], [{ workload: 'nosuch' }, 'there is no workload nosuch'], [{ set: ['ftl.gc.victim=nosuch'] }, 'nosuch']]) {
    const link = { device: 'tiny', set: [], options: {}, workload: 'randwrite-4k', seed: '1', ...more };
    await page.evaluate(text => { location.hash = text; }, encodeURIComponent(JSON.stringify(link)));
    await page.waitForFunction(text => document.getElementById('error').textContent.includes(text), told);
  }
  await page.evaluate(() => { location.hash = '{"device":"tiny","se'; });
  await page.waitForFunction(() => document.getElementById('error').textContent.startsWith('The link can\'t be read'));
  await page.selectOption('#device', 'tiny');
  await page.selectOption('#workload', 'randwrite-4k');
  await page.selectOption('#victim', '');
  // The box with the options of the link is open.
  await page.fill('#sets', '');
  await page.fill('#file', '[nand\n');
  await page.dispatchEvent('#file', 'change');
  await page.waitForFunction(() => document.getElementById('error').textContent.includes('my-drive.toml'));
  await page.fill('#file', '');
  await page.dispatchEvent('#file', 'change');
  await state(page, 'ready');
  await page.setInputFiles('#trace', { name: 'no.csv', mimeType: 'text/csv', buffer: Buffer.from('what is this\n') });
  await page.waitForFunction(() => document.getElementById('error').textContent.includes('no.csv'));
  await page.setInputFiles('#trace', { name: 'yes.csv', mimeType: 'text/csv', buffer: Buffer.from('128166372003061629,hm,1,Read,383496192,32768,113736\n128166372016382155,hm,1,Write,2822144,65536,87\n') });
  await state(page, 'ready');
  await page.click('#play');
  await state(page, 'ended');
  // Packed by gzip it is the same.
  const packed = gzipSync(Buffer.from('128166372003061629,hm,1,Read,383496192,32768,113736\n'));
  await page.setInputFiles('#trace', { name: 'yes.csv.gz', mimeType: 'application/gzip', buffer: packed });
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('yes.csv.gz'));
  await state(page, 'ready');
  await page.click('#play');
  await state(page, 'ended');
  await page.setInputFiles('#trace', { name: 'no.parquet', mimeType: '', buffer: Buffer.from(`PAR1${'\0'.repeat(40)}PAR1`) });
  await page.waitForFunction(() => /no\.parquet[^]*Parquet[^]*remedy/.test(document.getElementById('error').textContent));
  await close();
});

await check('what does not count, or is not there, is not shown as if it were', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { requests: '2000' }, workload: 'randwrite-4k', seed: '1' });
  await page.click('#play');
  await state(page, 'ended');
  const taken = () => page.$eval('#files', files => files.childElementCount);
  assert.ok(await taken() > 3);
  // After a refused plan nothing is left of the run before it, and the address is that of the plan.
  await page.fill('#op', '-3%');
  await page.dispatchEvent('#op', 'change');
  await state(page, 'refused');
  assert.deepEqual([await page.textContent('#command'), await taken(), await page.isVisible('#notes'), await page.isVisible('#along')], ['', 0, false, false]);
  const left = () => page.$$eval('#tiles > *, #time > *, #strip-legend > *, #blocks-legend > *', all => all.length);
  assert.deepEqual([await left(), await page.textContent('#blocks-about'), await page.textContent('#strip-about')], [0, '', '']);
  assert.match(decodeURIComponent(page.url()), /over_provisioning=-3%/);
  await page.fill('#op', '');
  await page.dispatchEvent('#op', 'change');
  await state(page, 'ready');
  // A trace takes the place of the workload until it is removed, and a device file that of the device.
  const disabled = () => page.$$eval('#workload, #device', all => all.map(one => one.disabled));
  await page.setInputFiles('#trace', { name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('128166372003061629,hm,1,Read,383496192,32768,113736\n') });
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('mine.csv'));
  assert.deepEqual(await disabled(), [false, true]);
  assert.match(await page.textContent('#counts'), /trace mine\.csv is played/);
  assert.match(await page.textContent('#files'), /^No link: /);
  await page.click('#play');
  await state(page, 'ended');
  assert.match(await page.textContent('#notes'), /Assumed: /);
  await page.click('#trace-remove');
  await state(page, 'ready');
  assert.deepEqual([await disabled(), await page.textContent('#counts'), await page.isVisible('#trace-remove')], [[false, false], '', false]);
  assert.match(await page.textContent('#command'), /--workload randwrite-4k/);
  await page.click('summary >> text=More options');
  await page.fill('#file', await downloaded(page, 'Device file'));
  await page.dispatchEvent('#file', 'change');
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('my-drive.toml'));
  assert.deepEqual(await disabled(), [true, false]);
  await page.fill('#file', '');
  await page.dispatchEvent('#file', 'change');
  // What the page lacks is told as what the program has.
  await page.setInputFiles('#trace', { name: 'odd.csv', mimeType: 'text/csv', buffer: Buffer.from('what is this\n') });
  await page.waitForFunction(() => /--format[^]*in this page: [^]*ftlab trace convert/.test(document.getElementById('error').textContent));
  await close();
});

const tile = async (page, name) => (await page.$$eval('#tiles > div', all => all.map(one => [one.children[0].textContent, one.children[1].textContent]))).find(([of]) => of === name)?.[1];

await check('tiles are those of the result, and of what the drive has', async () => {
  const run = async plan => {
    const { page, close } = await open({ set: [], options: {}, seed: '1', ...plan });
    await page.click('#play');
    await state(page, 'ended');
    const tiles = Object.fromEntries(await Promise.all(['Requests', 'Collections', 'Merges', 'Pages in the buffer', 'Free blocks, fewest outside the SLC cache'].map(async name => [name, await tile(page, name)])));
    const result = JSON.parse(await downloaded(page, 'Result')), notes = await page.textContent('#notes');
    await close();
    return { tiles, notes, of: result };
  };
  const counted = count => count.toLocaleString('en');
  const trims = await run({ device: 'tiny', workload: 'lsm' });
  const { host } = trims.of.report;
  assert.ok(host.requests > host.read.requests + host.write.requests);
  assert.equal(trims.tiles.Requests, counted(host.requests));
  assert.deepEqual([trims.tiles.Merges, trims.tiles['Pages in the buffer']], [undefined, undefined]);
  const merging = await run({ device: 'channel-management', workload: 'randwrite-4k', set: ['ftl.capacity=64MiB', 'nand.blocks_per_plane=40', 'ftl.over_provisioning=20%'], options: { requests: '9000' } });
  const { merges } = merging.of.report;
  assert.ok(merges.full > 0);
  assert.equal(merging.tiles.Merges, counted(merges.switch + merges.partial + merges.full));
  const cut = await run({ device: 'tiny', workload: 'randwrite-4k', set: ['ftl.recovery.policy=scan', 'cache.policy=lru', 'cache.capacity=256KiB', 'power.capacitors=off'], options: { requests: '9000', cut_power: '20ms' } });
  assert.ok(cut.tiles['Pages in the buffer']);
  const { cuts, lost_pages_mean: lost } = cut.of.power_cuts;
  assert.match(cut.notes, new RegExp(`Power was cut ${cuts.length} times\\. The mean of the cuts: ${lost.toFixed(1)} pages lost, [\\d.]+ .?s for recovery`));
  const slc = await run({ device: 'tiny', workload: 'randwrite-4k', set: ['ftl.over_provisioning=60%', 'ftl.slc_cache.policy=static', 'ftl.slc_cache.blocks=4'], options: { requests: '300' } });
  assert.ok(slc.tiles['Free blocks, fewest outside the SLC cache']);
});

await check('windows on their own are drawn, and time that was not recorded is no idle time', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { requests: '2000' }, workload: 'noisy-neighbour', seed: '2' });
  await page.click('#play');
  await state(page, 'ended');
  const svg = await downloaded(page, 'SVG', 1), empty = /M[\d. ]+(?=M|")/.test(svg.match(/<path d="M[^"]*" fill="none"[^>]*stroke-dasharray=""/g).join(' '));
  assert.equal(/a2 2 0/.test(svg), empty, 'a dot where a line has one point');
  assert.ok(empty, 'there are such windows');
  const free = (await downloaded(page, 'CSV', 3)).trim().split('\n').slice(1).map(line => line.split(',')[1]);
  assert.ok(free.every(Boolean), 'free blocks are known in each window');
  assert.match(await page.textContent('#strip-about'), /since the beginning and with the preparation \(/);
  await page.fill('#requests', '100000');
  await page.press('#requests', 'Tab');
  await state(page, 'ready');
  // So fast, operations are not noted; so slowly they are.
  await setSpeed(page, 17);
  await page.click('#play');
  await page.waitForFunction(() => document.querySelectorAll('#time .chart').length > 0);
  await setSpeed(page, 7);
  await page.waitForFunction(() => /Operations are noted from [\d.]+ \w+ on/.test(document.getElementById('strip-about').textContent));
  await page.click('#play');
  await state(page, 'paused');
  assert.ok(await pixels(page, '--line') > 10000, 'the time before is marked');
  await close();
});

await check('what is said of knobs, links and stops is so', async () => {
  const { page, close } = await open({ device: 'tiny', set: ['ftl.gc.start=3'], beside: ['ftl.over_provisioning=60%'], options: { requests: '2000' }, workload: 'randwrite-4k', seed: '1', stop: 'die_death' });
  assert.ok(await page.isVisible('#sets') && await page.isVisible('#beside'));
  await page.click('#play');
  await state(page, 'ended');
  assert.match(await page.textContent('#notes'), /Until "a die dies": [^.]*that did not happen/);
  // A line counts more than a knob.
  await page.fill('#op', '28%');
  await page.fill('#sets', 'ftl.over_provisioning=60%');
  await page.dispatchEvent('#sets', 'change');
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('=60%'));
  assert.ok(await page.isDisabled('#op'));
  assert.doesNotMatch(await page.textContent('#command'), /28%/);
  assert.match(await page.textContent('#counts'), /ftl\.over_provisioning the line/);
  // A wrong line of the second drive is told by its number there.
  await page.fill('#beside', 'ftl.gc.start=3\nnand.blocks=3');
  await page.dispatchEvent('#beside', 'change');
  await page.waitForFunction(() => document.getElementById('error').textContent.includes('"A second drive beside it", line 2'));
  await page.fill('#beside', '');
  await page.setInputFiles('#trace', { name: 'mine.csv', mimeType: 'text/csv', buffer: Buffer.from('128166372003061629,hm,1,Read,383496192,32768,113736\n') });
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('mine.csv'));
  await page.reload();
  await state(page, 'ready');
  assert.match(await page.textContent('#error'), /^The trace mine\.csv is not part of an address: this is the workload randwrite-4k/);
  assert.deepEqual([await page.inputValue('#op'), await page.inputValue('#requests')], ['60%', '2000']);
  await page.evaluate(() => { location.hash = '{"device":"tiny","se'; });
  await page.waitForFunction(() => document.getElementById('error').textContent.startsWith('The link can\'t be read'));
  await page.click('#play');
  await state(page, 'ended');
  assert.doesNotMatch(await page.textContent('#error'), /link/);
  await close();
});

await check('drives that are too large for a page are marked, and a link has pace, stop and tour', async () => {
  const link = { device: 'qlc-2t', set: [], options: {}, workload: 'randwrite-4k', seed: '1', pace: 13, stop: 'collection', tour: 'spare' };
  const { page, close } = await open(link);
  assert.match(await page.textContent('#error'), /^qlc-2t needs about [\d.]+ GB of memory, and a page has 4\.29 GB[^]*remedy/);
  assert.deepEqual(await page.$$eval('#device option', all => all.filter(one => one.text.includes('too large')).map(one => one.value).sort()), ['p5520-1.92t', 'qlc-2t']);
  const knobs = () => Promise.all(['#speed', '#stop', '#tour'].map(knob => page.inputValue(knob)));
  assert.deepEqual(await knobs(), ['13', 'collection', 'spare']);
  await page.reload();
  await state(page, 'refused');
  assert.deepEqual(await knobs(), ['13', 'collection', 'spare']);
  // What is usual is not in a link.
  await setSpeed(page, 25);
  await page.selectOption('#stop', '');
  await page.selectOption('#tour', '');
  assert.doesNotMatch(decodeURIComponent(page.url()), /pace|stop|tour/);
  await close();
});

await check('a mix of one’s own is the same in the program', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { precondition: 'fill', requests: '3000' }, workload: 'randwrite-4k', seed: '1' });
  await page.selectOption('#workload', 'my-mix.toml');
  await page.fill('#reads', '25');
  await page.fill('#skew', '0.5');
  await page.selectOption('#size', '8KiB');
  await state(page, 'ready');
  await page.click('#play');
  await state(page, 'ended');
  const seen = await equalsWithLoad(page, 'my-mix.toml');
  assert.ok(Math.abs(seen.report.host.read.requests / 3000 - 0.25) < 0.05);
  // A link has it all.
  await page.reload();
  await state(page, 'ready');
  assert.deepEqual([await page.inputValue('#reads'), await page.inputValue('#skew'), await page.inputValue('#size')], ['25', '0.5', '8KiB']);
  await close();
});

await check('keyboard, a phone and the dark', async () => {
  const { page, close } = await open(null, { viewport: { width: 375, height: 800 }, colorScheme: 'dark' });
  await page.focus('#play');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.getElementById('play').textContent === 'Pause');
  await page.keyboard.press('Enter');
  await state(page, 'paused');
  const narrow = async () => {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 376, `nothing sticks out of a phone: ${wide} pixels`);
  };
  await narrow();
  // Two drives, and curves that are read by keyboard.
  await page.evaluate(plan => { location.hash = encodeURIComponent(JSON.stringify(plan)); }, { device: 'tiny', set: [], beside: ['ftl.over_provisioning=60%'], options: { precondition: 'fill', requests: '3000' }, workload: 'mixed-70-30-zipf', seed: '1' });
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('60%'));
  await page.click('#play');
  await state(page, 'ended');
  await page.focus('#time .plot');
  await page.keyboard.press('ArrowLeft');
  const read = () => page.textContent('#time output');
  const last = await read();
  assert.match(last, /^at [\d.]+ \ws; reads: [\d.]+; writes: [\d.]+; reads, beside: /);
  await page.keyboard.press('ArrowLeft');
  assert.notEqual(await read(), last);
  await narrow();
  await close();
});

await check('pictures tell what is at a place, by pointer and by keyboard, and two drives have one axis', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], beside: ['ftl.over_provisioning=60%'], options: { precondition: 'fill', requests: '3000' }, workload: 'mixed-70-30-zipf', seed: '1' });
  await page.click('#play');
  await state(page, 'ended');
  const told = name => page.textContent(`#${name} + output`);
  await page.hover('#strip', { position: { x: 700, y: 30 } });
  assert.match(await told('strip'), /^die 0, [\d.]+ \w+ to [\d.]+ \w+ \([\d.]+ \w+\): .*host \d+ %/);
  await page.hover('#strip', { position: { x: 10, y: 5 } });
  assert.equal(await told('strip'), '');
  await page.focus('#strip');
  await page.keyboard.press('ArrowDown');
  const [first, next] = [await told('strip'), (await page.keyboard.press('ArrowDown'), await told('strip'))];
  assert.ok(first && next && first !== next, `${first}; ${next}`);
  // Shares of one row are those of all operations there: no more than all of the time.
  assert.ok([...first.matchAll(/(\d+) %/g)].reduce((sum, [, share]) => sum + Number(share), 0) < 102, first);
  await page.focus('#blocks');
  await page.keyboard.press('ArrowRight');
  assert.match(await told('blocks'), /^plane \d+, block \d+: \w+, valid pages: \d+ % of the fullest cell's, erases: \d+$/);
  // Both can be taken along, as a drawing and as a table.
  const taken = async (name, kind) => {
    const waiting = page.waitForEvent('download');
    await page.click(`#${name} ~ div >> nth=0 >> text="${kind}"`);
    return readFileSync(await (await waiting).path(), 'utf8');
  };
  assert.match(await taken('strip', 'SVG'), /^<svg[^]*>die 0<[^]*<rect[^]*<\/svg>\n$/);
  assert.match(await taken('blocks', 'SVG'), /^<svg[^]*<rect[^]*<\/svg>\n$/);
  const [shares, cells] = [(await taken('strip', 'CSV')).trim().split('\n'), (await taken('blocks', 'CSV')).trim().split('\n')];
  assert.equal(shares[0], 'place,from_ns,until_ns,busy');
  assert.ok(shares.some(line => /^die 0,\d+,\d+,"?host \d+ %/.test(line)), shares[1]);
  assert.equal(cells[0], 'plane,cell,state,valid_of_fullest,erases_max');
  const counted = await page.textContent('#blocks-about');
  assert.equal(cells.filter(line => line.split(',')[2] === 'closed').length, Number(/closed ([\d,]+)/.exec(counted)[1].replaceAll(',', '')));
  // The drive that took longer has the axis of both.
  const ends = async () => {
    const texts = [];
    for (const name of ['strip', 'strip-second']) {
      await page.hover(`#${name}`, { position: { x: await page.$eval(`#${name}`, one => one.clientWidth) - 2, y: 30 } });
      texts.push(/to ([\d.]+ \w+) \(/.exec(await told(name))[1]);
    }
    return texts;
  };
  const [one, other] = await ends();
  assert.equal(one, other);
  await close();
});

await check('files that are dropped on the page are a device, a workload or a trace', async () => {
  const { page, close } = await open({ device: 'tiny', set: [], options: { requests: '100' }, workload: 'randwrite-4k', seed: '1' });
  const drop = (...files) => page.evaluate(files => {
    const held = new DataTransfer();
    files.forEach(([name, text]) => held.items.add(new File([text], name)));
    document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: held }));
  }, files);
  const load = 'name = "mine"\n\n[[phase]]\nname = "writes"\nwrites = "100%"\nsize = "8KiB"\naddress = { kind = "uniform" }\narrivals = { kind = "closed", queue_depth = 4 }\nrequests = 500\n';
  await drop(['mine.toml', load]);
  await page.waitForFunction(() => document.getElementById('command').textContent.includes('--workload my-load.toml'));
  assert.ok(await page.isDisabled('#workload') && await page.inputValue('#load') === load);
  await page.click('#play');
  await state(page, 'ended');
  const seen = await equalsWithLoad(page, 'my-load.toml');
  // Rates are those of the result.
  const tile = name => page.$$eval('#tiles div', (all, name) => all.find(one => one.firstChild.textContent === name).children[1].textContent, name);
  assert.equal(await tile('Requests a second'), Math.round(seen.report.host.iops).toLocaleString('en'));
  assert.ok(Math.abs(Number(await tile('Write MB/s')) / seen.report.host.write.throughput_mb_per_s - 1) < 0.01);
  // A link has the file.
  await page.reload();
  await state(page, 'ready');
  assert.equal(await page.inputValue('#load'), load);
  await drop(['wrong.toml', 'name = "mine"\n[[phase]]\nrites = 3\n']);
  await page.waitForFunction(() => /my-load\.toml[^]*rites[^]*remedy/.test(document.getElementById('error').textContent));
  await page.fill('#load', '');
  await page.dispatchEvent('#load', 'change');
  await state(page, 'ready');
  await drop(['drive.toml', '[nand]\nnodes = 3\n']);
  await page.waitForFunction(() => /my-drive\.toml[^]*nodes/.test(document.getElementById('error').textContent));
  await page.fill('#file', '');
  await page.dispatchEvent('#file', 'change');
  await state(page, 'ready');
  // Several at once, and a workload takes the place of a trace.
  await drop(['drive.toml', 'base = "tiny"\n'], ['mine.csv', '128166372003061629,hm,1,Read,383496192,32768,113736\n128166372013061629,hm,1,Write,383496192,32768,113736\n']);
  await page.waitForFunction(() => /--device my-drive\.toml.*--trace mine\.csv/.test(document.getElementById('command').textContent));
  await drop(['mine.toml', load]);
  await page.waitForFunction(() => /--device my-drive\.toml --workload my-load\.toml/.test(document.getElementById('command').textContent));
  // A link without the text of its workload is refused.
  await page.evaluate(() => { location.hash = JSON.stringify({ device: 'tiny', set: [], options: {}, workload: 'my-load.toml', seed: '1' }); });
  await page.waitForFunction(() => /my-load\.toml[^]*remedy/.test(document.getElementById('error').textContent));
  await close();
});

await check('its size', async () => {
  const packed = gzipSync(readFileSync(file), { level: 9 }).length;
  console.log(`  ${(statSync(file).size / 1e6).toFixed(2)} MB, ${(packed / 1e6).toFixed(2)} MB compressed`);
  assert.ok(packed < MOST_PACKED, `${packed} bytes`);
});

await finish('web.mjs');

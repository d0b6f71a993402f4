// Measures how fast the page simulates beside the program, on one core each: BROWSER FOLDER [REPETITIONS], and FTLAB names
// the program, optimised. Linux only: processor time of the worker is that of its thread. Not a test: nothing is asserted.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const [executablePath, folder, repetitions = '5'] = process.argv.slice(2);
const TICKS_PER_S = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));
// Two lengths of each load: what both have in common, such as building and filling the drive, is in neither rate.
const [SHORT, LONG] = [1_100_000, 3_100_000];
const LOADS = [['tlc-32g', 'randwrite-4k'], ['tlc-32g', 'randread-4k'], ['tlc-32g', 'mixed-70-30-zipf']];
const server = await chromium.launchServer({ executablePath, args: ['--no-sandbox'] });
const browser = await chromium.connect(server.wsEndpoint());

const numbers = path => readFileSync(path, 'utf8').replace(/^.*\) /, '').split(' ');
// Threads of the browser's workers, of all its processes.
function workers() {
  const found = [], processes = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  const parents = new Map();
  for (const id of processes) try { parents.set(id, numbers(`/proc/${id}/stat`)[1]); } catch { /* It has ended. */ }
  const isOurs = id => id === String(server.process().pid) || (parents.has(id) && isOurs(parents.get(id)));
  for (const id of processes.filter(isOurs)) {
    for (const thread of readdirSync(`/proc/${id}/task`)) {
      if (readFileSync(`/proc/${id}/task/${thread}/comm`, 'utf8').startsWith('DedicatedWorker')) found.push(`/proc/${id}/task/${thread}/stat`);
    }
  }
  return found;
}
const busy = path => { const [, , , , , , , , , , , user, system] = numbers(path); return (Number(user) + Number(system)) / TICKS_PER_S; };

// Seconds of the processor, and of the wall, for so many requests.
async function inPage(device, workload, requests) {
  const page = await (await browser.newContext()).newPage();
  const plan = { device, set: [], options: { precondition: 'fill', requests: String(requests) }, workload, seed: '1' };
  await page.goto(`${pathToFileURL(resolve(folder, 'ftlab.html')).href}#${encodeURIComponent(JSON.stringify(plan))}`);
  const state = text => page.waitForFunction(told => document.getElementById('state').textContent === told, text, { timeout: 600000 });
  await state('ready');
  const [thread] = workers(), [cpu, began] = [busy(thread), performance.now()];
  await page.click('#play');
  await state('ended');
  const took = [busy(thread) - cpu, (performance.now() - began) / 1000];
  await page.context().close();
  return took;
}
function inProgram(device, workload, requests) {
  const output = join(tmpdir(), `ftlab-speed-${process.pid}`), began = performance.now();
  const run = `"$FTLAB" run --device ${device} --workload ${workload} --precondition fill --requests ${requests} --seed 1 -q -o ${output} > ${output}.txt; times; rm -r ${output} ${output}.txt`;
  const [, children] = execFileSync('sh', ['-c', run], { encoding: 'utf8' }).trim().split('\n');
  const cpu = children.split(' ').reduce((sum, time) => { const [, minutes, seconds] = /(\d+)m([\d.]+)s/.exec(time); return sum + Number(minutes) * 60 + Number(seconds); }, 0);
  return [cpu, (performance.now() - began) / 1000];
}
const median = values => { const sorted = values.toSorted((a, b) => a - b), half = sorted.length / 2; return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2; };
const rates = (short, long) => long.map((time, at) => (LONG - SHORT) / (time - short[at]));
for (const [device, workload] of LOADS) {
  const measured = { page: [], program: [] };
  for (let turn = 0; turn < Number(repetitions); turn += 1) {
    measured.page.push(rates(await inPage(device, workload, SHORT), await inPage(device, workload, LONG)));
    if (process.env.FTLAB) measured.program.push(rates(inProgram(device, workload, SHORT), inProgram(device, workload, LONG)));
  }
  const of = (name, at) => median(measured[name].map(rate => rate[at]));
  const told = name => measured[name].length ? `${name}: ${Math.round(of(name, 0)).toLocaleString('en')} requests a second of processor time, ${Math.round(of(name, 1)).toLocaleString('en')} of the wall` : `${name}: not measured`;
  console.log(`${device} ${workload}\n  ${told('program')}\n  ${told('page')}\n  ratio ${[0, 1].map(at => (of('page', at) / of('program', at)).toFixed(2)).join(', ')}`);
}
await browser.close();
await server.close();

// What a picture tells of a place in it: where the pointer is, or where arrow keys have come to.
'use strict';
// `corner` is where the picture begins, beside its margins, and `steps` how far an arrow key goes, in pixels; `tell` says in words
// what is there, and `redraw` shows where it is.
function pointed(canvas, { corner, steps, tell, redraw }) {
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [-10, 0], PageDown: [10, 0], Home: [-Infinity, 0], End: [Infinity, 0] };
  const readout = document.createElement('output');
  canvas.after(readout);
  // Where it is, and whether the pointer has put it there: then it goes with it.
  let place = null, follows = false;
  const within = (value, most) => Math.min(Math.max(value, 0.5), most - 0.5);
  function put(x, y) {
    place = { x: within(x, canvas.clientWidth), y: within(y, canvas.clientHeight) };
    redraw();
  }
  const point = event => { follows = true; put(event.offsetX, event.offsetY); };
  canvas.addEventListener('pointermove', point);
  canvas.addEventListener('pointerdown', point);
  canvas.addEventListener('pointerleave', event => {
    // A finger leaves at once.
    if (!place || !follows || event.pointerType === 'touch') return;
    place = null;
    redraw();
  });
  canvas.addEventListener('keydown', event => {
    const key = KEYS[event.key];
    if (!key || !canvas.clientWidth) return;
    event.preventDefault();
    follows = false;
    const [wide, tall] = steps(), from = place ?? { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 };
    const [x, y] = [from.x + (key[0] && key[0] * wide), from.y + key[1] * tall];
    put(Math.max(x, corner[0] + 0.5), Math.max(y, corner[1] + 0.5));
  });
  // Marks the place once the picture is drawn, and says what is there now.
  function mark(pen) {
    const told = place && tell(place);
    const text = told?.text ?? '';
    if (readout.textContent !== text) readout.textContent = text;
    if (!told) return;
    for (const [ink, wide] of [['--ground', 5], ['--ink', 2]]) {
      [pen.strokeStyle, pen.lineWidth] = [css(ink), wide];
      pen.strokeRect(...told.box);
    }
  }
  // Nothing is shown any more.
  function clear() {
    place = null;
    readout.textContent = '';
  }
  return { mark, clear };
}

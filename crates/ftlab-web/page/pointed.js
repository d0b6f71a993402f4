// What a picture tells of a place in it: where the pointer is, or where arrow keys have come to.
'use strict';
// `corner` is where the picture begins, beside its margins, and `steps` how far an arrow key goes, in pixels; `tell` says in words
// what is there, and `redraw` shows where it is.
function pointed(canvas, { corner, steps, tell, redraw }) {
  const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1], PageUp: [-10, 0], PageDown: [10, 0] };
  const readout = document.createElement('output');
  canvas.after(readout);
  let place = null;
  const within = (value, most) => Math.min(Math.max(value, 0.5), most - 0.5);
  function put(x, y) {
    place = { x: within(x, canvas.clientWidth), y: within(y, canvas.clientHeight) };
    redraw();
  }
  function leave() {
    if (!place) return;
    place = null;
    redraw();
  }
  canvas.addEventListener('pointermove', event => put(event.offsetX, event.offsetY));
  canvas.addEventListener('pointerleave', leave);
  canvas.addEventListener('blur', leave);
  canvas.addEventListener('keydown', event => {
    const key = KEYS[event.key];
    if (!key || !canvas.clientWidth) return;
    event.preventDefault();
    const [wide, tall] = steps(), from = place ?? { x: canvas.clientWidth / 2, y: canvas.clientHeight / 2 };
    put(Math.max(from.x + key[0] * wide, corner[0] + 0.5), Math.max(from.y + key[1] * tall, corner[1] + 0.5));
  });
  // Marks the place once the picture is drawn, and says what is there now.
  function mark(pen) {
    const told = place && tell(place);
    const text = told?.text ?? '';
    if (readout.textContent !== text) readout.textContent = text;
    if (!told) return;
    pen.strokeStyle = css('--focus');
    pen.lineWidth = 1.5;
    pen.strokeRect(...told.box);
  }
  // Nothing is shown any more.
  function clear() {
    place = null;
    readout.textContent = '';
  }
  return { mark, clear };
}

// A pen for files: what a picture paints on a canvas becomes an SVG drawing, as it looks on the page.
'use strict';
function paper(title, width, height) {
  const parts = [];
  let line = '';
  const ANCHORS = { start: 'start', end: 'end' };
  const pale = () => pen.globalAlpha < 1 ? ` opacity="${pen.globalAlpha.toFixed(2)}"` : '';
  const pen = {
    fillStyle: '#000', strokeStyle: '#000', lineWidth: 1, globalAlpha: 1, font: '', textAlign: 'start',
    fillRect(x, y, wide, tall) { parts.push(`<rect x="${tenths(x)}" y="${tenths(y)}" width="${tenths(wide)}" height="${tenths(tall)}" fill="${pen.fillStyle}"${pale()}/>`); },
    fillText(text, x, y) { parts.push(`<text x="${tenths(x)}" y="${tenths(y)}" text-anchor="${ANCHORS[pen.textAlign]}" fill="${pen.fillStyle}">${escaped(text)}</text>`); },
    beginPath() { line = ''; },
    moveTo(x, y) { line += `M${tenths(x)} ${tenths(y)}`; },
    lineTo(x, y) { line += `L${tenths(x)} ${tenths(y)}`; },
    stroke() { parts.push(`<path d="${line}" fill="none" stroke="${pen.strokeStyle}"/>`); },
  };
  const file = () => `<svg xmlns="http://www.w3.org/2000/svg" width="${tenths(width)}" height="${tenths(height)}" font-family="sans-serif" font-size="11">`
    + `<title>${escaped(title)}</title><rect width="100%" height="100%" fill="${css('--ground')}"/>${parts.join('')}</svg>\n`;
  return { pen, file };
}
// Buttons below a picture for its drawing and its data. `picture` paints with a pen.
function pictureFiles(canvas, picture, data) {
  const [title] = canvas.getAttribute('aria-label').split('.'), box = document.createElement('div');
  canvas.nextElementSibling.after(box);
  const drawing = () => {
    const { clientWidth: width, clientHeight: height } = canvas, { pen, file } = paper(title, width, height);
    picture(pen, width, height);
    return file();
  };
  fileButtons(box, title, drawing, data);
}

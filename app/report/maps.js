'use strict';

// The report is data: its texts go into the page as textContent only.
const report = JSON.parse(document.getElementById('report').textContent);
const [rows, columns] = report.grid;
const cells = rows * columns;

// viridis (van der Walt and Smith, 2015): every fifth of its 256 colours; straight lines between.
const viridis = [
  '44015446085c471063481769481d6f482475472a7a46307e453781433d844142873f48893d4e8a3a538b38598c355e8d',
  '33638d31688e2e6d8e2c718e2a768e297b8e27808e25848e23898e218e8d20928c1f978b1e9c891fa18821a58524aa83',
  '28ae802eb37c35b7793dbc7446c06f50c46a5ac86465cb5e70cf577cd25089d54895d840a2da37b0dd2fbddf26cae11f',
  'd8e219e5e419f1e51dfde725',
].join('');
const stop = (index, channel) =>
    parseInt(viridis.slice(index * 6 + channel * 2, index * 6 + channel * 2 + 2), 16);
const colours = Array.from({length: 256}, (_, level) => {
  const from = Math.min(Math.floor(level / 5), 50);
  const part = level / 5 - from;
  const mix = (c) => Math.round(stop(from, c) * (1 - part) + stop(from + 1, c) * part);
  return [mix(0), mix(1), mix(2), 255];
});

// Level q of a map stands for low + (high - low) * q / 255.

function unpack({low, high, levels}) {
  const bytes = Uint8Array.from(atob(levels), (character) => character.charCodeAt(0));
  const levelsOf = (index) => bytes.subarray(index * cells, (index + 1) * cells);
  return low.map((least, index) => ({low: least, high: high[index], levels: levelsOf(index)}));
}

// Each is unpacked when it is first looked at, and once.
const unpacked = new Map();
function mapsOf(packed) {
  if (!unpacked.has(packed)) unpacked.set(packed, unpack(packed));
  return unpacked.get(packed);
}

const valueOf = (map, cell) => map.low + (map.high - map.low) * map.levels[cell] / 255;

// The least and greatest value of several packed sets of maps.
const rangeOf = (sets) => ({
  low: Math.min(...sets.map((set) => set.low.reduce((a, b) => Math.min(a, b)))),
  high: Math.max(...sets.map((set) => set.high.reduce((a, b) => Math.max(a, b)))),
});

// Draws the map in colours, `fine` pixels a cell; when more than one, linear between the centres.
function colourMap(canvas, map, range, fine) {
  canvas.width = columns * fine;
  canvas.height = rows * fine;
  const context = canvas.getContext('2d');
  const image = context.createImageData(canvas.width, canvas.height);
  const span = range.high - range.low;
  const place = (pixel, count) => {
    const at = Math.min(Math.max((pixel + 0.5) / fine - 0.5, 0), count - 1);
    const first = Math.floor(at);
    return [first, Math.min(first + 1, count - 1), at - first];
  };
  for (let y = 0; y < canvas.height; ++y) {
    const [top, bottom, down] = place(y, rows);
    for (let x = 0; x < canvas.width; ++x) {
      const [left, right, along] = place(x, columns);
      const at = (row) => valueOf(map, row * columns + left) * (1 - along) +
          valueOf(map, row * columns + right) * along;
      const value = at(top) * (1 - down) + at(bottom) * down;
      const part = span > 0 ? Math.min(Math.max((value - range.low) / span, 0), 1) : 0.5;
      image.data.set(colours[Math.round(part * 255)], (y * canvas.width + x) * 4);
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

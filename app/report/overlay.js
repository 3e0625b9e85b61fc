// A photo with a map over it, and small parts that pages share. maps.js comes before this.
//
// A `place` says where the cells lie, in pixels of the photo: {size: [width, height], cell: that of
// the first cell, seen: what the network saw at all}, rectangles as [left, top, width, height].

const element = (id) => document.getElementById(id);

function add(parent, tag, text) {
  const child = parent.appendChild(document.createElement(tag));
  if (text !== undefined) child.textContent = text;
  return child;
}

const digits = (value) => Number(value.toPrecision(4)).toString();
const placeName = (cell) => `row ${Math.floor(cell / columns) + 1}, column ${cell % columns + 1}`;

const rectangleOf = (place, cell) => {
  const [left, top, width, height] = place.cell;
  return [left + cell % columns * width, top + Math.floor(cell / columns) * height, width, height];
};

// The element that holds photo and overlay gets the photo's shape, at most `tallest` percent of the
// window's height.
function shapeStage(stage, place, tallest) {
  const [width, height] = place.size;
  stage.style.aspectRatio = `${width} / ${height}`;
  stage.style.maxWidth = `calc(${tallest}vh * ${width / height})`;
}

// Says that a border is dark, where it is.
function sayUnseen(paragraph, place) {
  const [left, top, width, height] = place.seen;
  const all = left < 0.5 && top < 0.5 && place.size[0] - left - width < 0.5 &&
      place.size[1] - top - height < 0.5;
  paragraph.hidden = all;
  paragraph.textContent = 'The model did not see the dark border: it was cropped away first.';
}

// Draws on the canvas over a photo: the map, which may be null, and dark what was not seen. Gives
// the canvas' context, which counts in pixels of the photo, and how many of them one of the screen
// is.
function drawOver(canvas, place, map, range, {opacity, smooth}) {
  const ratio = window.devicePixelRatio || 1;
  const [width, height] = place.size;
  canvas.width = Math.max(1, Math.round(canvas.clientWidth * ratio));
  canvas.height = Math.max(1, Math.round(canvas.clientHeight * ratio));
  const context = canvas.getContext('2d');
  context.scale(canvas.width / width, canvas.height / height);
  const unseen = new Path2D();
  unseen.rect(0, 0, width, height);
  unseen.rect(...place.seen);
  context.fillStyle = 'rgba(10, 14, 18, 0.72)';
  context.fill(unseen, 'evenodd');
  if (map) {
    context.save();
    context.beginPath();
    context.rect(...place.seen);
    context.clip();
    context.globalAlpha = opacity;
    context.imageSmoothingEnabled = smooth;
    const tile = colourMap(document.createElement('canvas'), map, range, smooth ? 8 : 1);
    const [left, top, cellWidth, cellHeight] = place.cell;
    context.drawImage(tile, left, top, columns * cellWidth, rows * cellHeight);
    context.restore();
  }
  return {context, unit: ratio * width / canvas.width};
}

// Frames a cell on what drawOver gave; `thickness` in pixels of the screen.
function outline({context, unit}, place, cell, colour, thickness) {
  context.strokeStyle = colour;
  context.lineWidth = thickness * unit;
  context.strokeRect(...rectangleOf(place, cell));
}

function drawColourBar(canvas) {
  const bar = canvas.getContext('2d');
  colours.forEach((colour, level) => {
    bar.fillStyle = `rgb(${colour.slice(0, 3).join(' ')})`;
    bar.fillRect(level, 0, 1, 1);
  });
}

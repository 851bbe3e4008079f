// Saves a picture of the maps as they are shown.

import { download } from "./text.js";

export function savePicture(maps, name) {
  const canvases = maps.map((map) => [map.canvas, map.over]);
  const picture = document.createElement("canvas");
  picture.width = canvases.reduce((sum, [points]) => sum + points.width, 0);
  picture.height = Math.max(...canvases.map(([points]) => points.height));
  const context = picture.getContext("2d");
  let left = 0;
  for (const [points, over] of canvases) {
    const { backgroundColor, opacity } = getComputedStyle(points);
    context.fillStyle = backgroundColor;
    context.fillRect(left, 0, points.width, points.height);
    context.globalAlpha = Number(opacity);
    context.drawImage(points, left, 0);
    context.globalAlpha = 1;
    context.drawImage(over, left, 0);
    left += points.width;
  }
  return new Promise((done) =>
    picture.toBlob((blob) => {
      download(`${name}.png`, blob);
      done();
    }),
  );
}

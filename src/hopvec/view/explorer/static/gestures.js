// Hands and keys on a map: drag, pinch, wheel, double click, arrows, + - 0 and Enter.

const STILL = 5; // pixels that a finger may slip in a click
const STEP = 0.15; // of the map that an arrow moves it by
const FASTER = 1.5; // zoom of a key

// `act` has pan(x, y), zoom(factor, x, y), home(), pick(x, y), point(x, y) and leave(); all in pixels
// of the page, from the corner of the canvas.
export function listen(canvas, act) {
  const fingers = new Map();
  let moved = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    moved = fingers.size > 1 ? Infinity : 0; // two fingers never click
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = place(event),
      before = fingers.get(event.pointerId);
    if (!before) return act.point(x, y);
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    fingers.set(event.pointerId, [x, y]);
    moved += Math.hypot(x - before[0], y - before[1]);
    if (other) {
      const span = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
      act.zoom(span([x, y]) / span(before), (x + other[0]) / 2, (y + other[1]) / 2);
      act.pan((x - before[0]) / 2, (y - before[1]) / 2);
    } else if (moved > STILL) {
      act.pan(x - before[0], y - before[1]);
    }
  });
  const lift = (event) => {
    if (fingers.delete(event.pointerId) && event.type === "pointerup" && moved <= STILL)
      act.pick(...place(event));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => act.leave());
  canvas.addEventListener("dblclick", (event) => act.zoom(2, ...place(event)));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 24 : event.ctrlKey ? 8 : 1); // ctrl: a pinch of a touchpad
      act.zoom(Math.exp(-Math.min(300, Math.max(-300, pixels)) / 400), ...place(event));
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { width, height } = canvas.getBoundingClientRect(),
      middle = [width / 2, height / 2];
    const keys = {
      ArrowLeft: () => act.pan(width * STEP, 0),
      ArrowRight: () => act.pan(-width * STEP, 0),
      ArrowUp: () => act.pan(0, height * STEP),
      ArrowDown: () => act.pan(0, -height * STEP),
      "+": () => act.zoom(FASTER, ...middle),
      "=": () => act.zoom(FASTER, ...middle),
      "-": () => act.zoom(1 / FASTER, ...middle),
      0: () => act.home(),
      Enter: () => act.pick(...middle, Infinity),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
}

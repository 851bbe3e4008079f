// Input on a map: drag, pinch, wheel, double click, arrow keys, + - 0 and Enter.

const CLICK_TOLERANCE = 5; // pixels that the pointer may move during a click
const STEP = 0.15; // share of the map that an arrow key moves it by
const KEY_ZOOM = 1.5; // zoom factor of a key

// `act` has pan(x, y), zoom(factor, x, y), home(), pick(x, y), hover(x, y) and leave(), all in CSS
// pixels relative to the canvas.
export function listen(canvas, act) {
  const pointers = new Map();
  let moved = 0;
  const position = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, position(event));
    moved = pointers.size > 1 ? Infinity : 0; // a gesture with two pointers is never a click
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = position(event),
      before = pointers.get(event.pointerId);
    if (!before) return act.hover(x, y);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    pointers.set(event.pointerId, [x, y]);
    moved += Math.hypot(x - before[0], y - before[1]);
    if (other) {
      const span = (at) => Math.max(1, Math.hypot(at[0] - other[0], at[1] - other[1]));
      act.zoom(span([x, y]) / span(before), (x + other[0]) / 2, (y + other[1]) / 2);
      act.pan((x - before[0]) / 2, (y - before[1]) / 2);
    } else if (moved > CLICK_TOLERANCE) {
      act.pan(x - before[0], y - before[1]);
    }
  });
  const lift = (event) => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= CLICK_TOLERANCE)
      act.pick(...position(event));
  };
  canvas.addEventListener("pointerup", lift);
  canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("pointerleave", () => act.leave());
  canvas.addEventListener("dblclick", (event) => act.zoom(2, ...position(event)));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const pixels = event.deltaY * (event.deltaMode === 1 ? 24 : event.ctrlKey ? 8 : 1); // ctrl: pinch on a touchpad
      act.zoom(Math.exp(-Math.min(300, Math.max(-300, pixels)) / 400), ...position(event));
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
      "+": () => act.zoom(KEY_ZOOM, ...middle),
      "=": () => act.zoom(KEY_ZOOM, ...middle),
      "-": () => act.zoom(1 / KEY_ZOOM, ...middle),
      0: () => act.home(),
      Enter: () => act.pick(...middle, Infinity),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  });
}

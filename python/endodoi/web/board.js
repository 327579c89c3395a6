// Boards as SVG: positions at rest, and sowings seed by seed.
//
// A board lies as South sees it: North's row above, from North's right to its left, so that opposite
// pits face each other (B2). Rows that are too wide for their place are cut into bands.
"use strict";

const Board = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SIDES = ["South", "North"];

  // Sizes in units of the picture.
  const PITCH = 64;
  const PIT = 26;
  const MIN_WIDTH = 384;
  const PAD = 14;
  const EDGE = 32;
  const TRAY = 38;
  const GAP = 10;
  const BAND = 198;
  const ROW = [148, 50];
  const STATUS = 30;
  const SEED = 5.6;
  const MOST_IN_PIT = 60;

  // The least and the most pixels of a unit.
  const LEAST_SCALE = 0.62;
  const MOST_SCALE = 1.5;

  // Milliseconds of a seed dropped, of a lift and of a capture, and of a whole sowing at most.
  const DROP = 110;
  const LIFT = 230;
  const TAKE = 600;
  const MOST_TIME = 7000;

  // The most rounds of the board whose way is drawn.
  const MOST_ROUNDS = 6;

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
      made.setAttribute(key, value);
    }
    if (parent) {
      parent.append(made);
    }
    return made;
  };

  const turn = ([x, y], [cosine, sine]) => [x * cosine - y * sine, x * sine + y * cosine];
  const GOLDEN = [-0.7373689, 0.6754903];
  const around = (count, reach, start) => {
    const angle = (2 * Math.PI) / count;
    const step = [Math.cos(angle), Math.sin(angle)];
    const places = [];
    let direction = start;
    for (let index = 0; index < count; index += 1) {
      direction = turn(direction, step);
      places.push([reach * direction[0], reach * direction[1]]);
    }
    return places;
  };

  /** Places the seeds of a pit around its middle; returns their centres and radius. */
  const inPit = (seeds) => {
    const count = Math.min(seeds, MOST_IN_PIT);
    if (count <= 7) {
      let start = [0, -1];
      for (let index = 0; index < count; index += 1) {
        start = turn(start, GOLDEN);
      }
      const reach = [0, 0, 7.2, 8.2, 9.4, 11, 13.2, 13.2][count];
      const ring = count > 5 ? count - 1 : count;
      const middle = count > 5 ? [[0, 0]] : [];
      return [[...middle, ...around(ring, reach, start)], SEED];
    }
    const spacing = (PIT - 3) / (Math.sqrt(count) + 0.75);
    const places = [];
    let direction = [1, 0];
    for (let index = 0; index < count; index += 1) {
      const reach = spacing * Math.sqrt(index + 0.5);
      direction = turn(direction, GOLDEN);
      places.push([reach * direction[0], reach * direction[1]]);
    }
    return [places, Math.min(0.76 * spacing, SEED)];
  };

  /** Places captured seeds in rows, as many as find room. */
  const inTray = (seeds, width, height) => {
    let rows = 2;
    const inRow = () => Math.max(Math.floor((width * rows) / height - 0.5), 1);
    while (rows < 5 && inRow() * rows < seeds) {
      rows += 1;
    }
    const pitch = height / rows;
    const places = [];
    for (let index = 0; index < Math.min(seeds, rows * inRow()); index += 1) {
      const row = index % rows;
      const shift = row % 2 === 1 ? 1 : 0.5;
      places.push([(Math.floor(index / rows) + shift) * pitch, (row + 0.5) * pitch]);
    }
    return [places, Math.min(0.43 * pitch, SEED)];
  };

  /** Draws seeds at places into a group, in place of what it held. */
  const drawSeeds = (group, [places, radius], [left, top]) => {
    group.replaceChildren();
    if (!places.length) {
      return;
    }
    const dots = (shift) =>
      places.map(([x, y]) => `M${(left + x - shift).toFixed(1)} ${(top + y - shift).toFixed(1)}h.01`).join("");
    const line = { "stroke-linecap": "round", fill: "none" };
    element("path", { d: dots(0), class: "seed-edge", "stroke-width": 2 * radius + 1, ...line }, group);
    element("path", { d: dots(0), class: "seed", "stroke-width": 2 * radius - 1, ...line }, group);
    element("path", { d: dots(0.28 * radius), class: "gleam", "stroke-width": 0.62 * radius, ...line }, group);
  };

  class Board {
    /**
     * Puts a board into an element.
     *
     * `choose(column)` is called when a playable pit is clicked, or chosen by the keyboard; without
     * it the board is a picture.
     */
    constructor(host, columns, choose = null) {
      this.host = host;
      this.columns = columns;
      this.choose = choose;
      this.state = null;
      this.move = null;
      this.hints = new Map();
      this.running = null;
      this.band = 0;
      new ResizeObserver(() => this.fit()).observe(host);
      this.fit();
    }

    /** Gives the board another number of columns. */
    resize(columns) {
      this.stop();
      this.columns = columns;
      this.state = null;
      this.band = 0;
      this.fit();
    }

    /** Cuts the rows so that they fit into the width there is. */
    fit() {
      const room = (this.host.clientWidth || 800) / LEAST_SCALE - 2 * EDGE;
      const most = Math.max(Math.floor(room / PITCH), 4);
      const band = Math.ceil(this.columns / Math.ceil(this.columns / most));
      if (band === this.band) {
        return;
      }
      this.finish();
      this.band = band;
      this.build();
      if (this.state) {
        this.paint();
      }
    }

    side(pit) {
      return pit < this.columns ? 0 : 1;
    }

    /** Returns the band of a pit, counted from the top, and its place from the left. */
    place(pit) {
      const column = pit % this.columns;
      const place = this.side(pit) === 0 ? column : this.columns - 1 - column;
      return [Math.floor(place / this.band), place % this.band];
    }

    top(band) {
      return PAD + TRAY + GAP + band * (BAND + GAP);
    }

    centre(pit) {
      const [band, place] = this.place(pit);
      return [this.left + (place + 0.5) * PITCH, this.top(band) + ROW[this.side(pit)]];
    }

    build() {
      const bands = Math.ceil(this.columns / this.band);
      this.width = Math.max(this.band * PITCH + 2 * EDGE, MIN_WIDTH);
      this.left = (this.width - this.band * PITCH) / 2;
      this.trays = [this.top(bands), PAD];
      this.height = this.top(bands) + TRAY + STATUS + PAD;
      this.svg = element("svg", {
        viewBox: `0 0 ${this.width} ${this.height}`,
        class: "board",
        role: this.choose ? "group" : "img",
      });
      this.svg.style.maxWidth = `${this.width * MOST_SCALE}px`;
      this.host.replaceChildren(this.svg);
      const rim = { x: 1.5, y: 1.5, width: this.width - 3, height: this.height - 3, rx: 16.5 };
      element("rect", { ...rim, class: "wood" }, this.svg);
      for (let band = 0; band < bands; band += 1) {
        this.buildBand(band, bands);
      }
      for (const name of ["pitLayer", "wayLayer", "markLayer", "seedLayer", "numberLayer", "handLayer", "hitLayer"]) {
        this[name] = element("g", {}, this.svg);
      }
      this.pits = [];
      for (let pit = 0; pit < 2 * this.columns; pit += 1) {
        this.pits.push(this.buildPit(pit));
      }
      this.owners = [0, 1].map((side) => this.buildTray(side));
      this.line = this.text(this.width / 2, this.height - PAD - 3, 15, "middle", "status");
    }

    buildBand(band, bands) {
      const columns = Math.min(this.band, this.columns - band * this.band);
      const top = this.top(band);
      const left = band === 0 ? this.left - 12 : 3;
      const right = band === bands - 1 ? this.left + columns * PITCH + 12 : this.width - 3;
      element("rect", { x: left, y: top, width: right - left, height: BAND, rx: 20, class: "field" }, this.svg);
      if (band > 0) {
        element("rect", { x: left, y: top, width: 24, height: BAND, class: "field" }, this.svg);
      }
      if (band < bands - 1) {
        element("rect", { x: right - 24, y: top, width: 24, height: BAND, class: "field" }, this.svg);
      }
      const middle = top + (ROW[0] + ROW[1]) / 2;
      element("path", { d: `M${left + 10} ${middle}H${right - 10}`, class: "groove" }, this.svg);
    }

    text(x, y, size, anchor, kind, parent = this.svg) {
      return element("text", { x, y, "font-size": size, "text-anchor": anchor, class: kind }, parent);
    }

    buildPit(pit) {
      const [x, y] = this.centre(pit);
      const north = this.side(pit) === 1;
      const hole = element("circle", { cx: x, cy: y, r: PIT, class: "pit" }, this.pitLayer);
      element("circle", { cx: x, cy: y + 2, r: PIT - 4, class: "floor" }, this.pitLayer);
      const seeds = element("g", {}, this.seedLayer);
      const number = this.text(x, north ? y + PIT + 17 : y - PIT - 6, 16, "middle", "number", this.numberLayer);
      number.dataset.pit = pit;
      const label = this.text(x, north ? y - PIT - 8 : y + PIT + 18, 13, "middle", "label", this.numberLayer);
      label.textContent = pit % this.columns;
      const made = { hole, seeds, number, label, drawn: -1, hit: null };
      if (this.choose) {
        made.hit = element("circle", { cx: x, cy: y, r: PIT + 4, class: "hit" }, this.hitLayer);
        made.hit.dataset.hit = pit;
        const chosen = () => made.hit.hasAttribute("tabindex") && this.choose(pit % this.columns);
        made.hit.addEventListener("click", chosen);
        made.hit.addEventListener("keydown", (event) => {
          if (event.key === "Enter" || event.key === " ") {
            event.preventDefault();
            event.stopPropagation();
            chosen();
          }
        });
      }
      return made;
    }

    buildTray(side) {
      const top = this.trays[side];
      const base = top + TRAY / 2 + 5.5;
      const name = this.text(PAD + 20, base, 16, "start", "owner");
      name.textContent = SIDES[side];
      const middle = top + TRAY / 2;
      const points = `${PAD + 4},${middle - 6} ${PAD + 14},${middle} ${PAD + 4},${middle + 6}`;
      const turnMark = element("polygon", { points, class: "turn" }, this.svg);
      const box = { x: PAD + 78, y: top, width: this.width - 2 * PAD - 136, height: TRAY };
      element("rect", { ...box, rx: 12, class: "tray" }, this.svg);
      const seeds = element("g", {}, this.svg);
      const number = this.text(this.width - PAD - 4, base + 1.5, 20, "end", "captured");
      number.dataset.captured = side;
      return { name, turnMark, seeds, number, box };
    }

    /** Shows a position at rest, with the way of the move that led to it. */
    show(state, move = null) {
      this.stop();
      this.state = state;
      this.move = move;
      this.hints = new Map();
      this.paint();
    }

    /** Writes what is known of moves below their columns: a map from column to text and kind. */
    showHints(hints) {
      this.hints = hints;
      this.paint();
    }

    paint() {
      const { state } = this;
      state.pits.forEach((seeds, pit) => this.paintSeeds(pit, seeds));
      for (const side of [0, 1]) {
        this.paintTray(side, state.captured[side]);
        const moves = state.mover === side && !state.over;
        this.owners[side].name.classList.toggle("moves", moves);
        this.owners[side].turnMark.classList.toggle("moves", moves);
      }
      this.paintPlayable(state.legal);
      this.paintWay();
      this.say(state.line);
      this.describe();
    }

    paintSeeds(pit, seeds) {
      const made = this.pits[pit];
      if (made.drawn === seeds) {
        return;
      }
      made.drawn = seeds;
      drawSeeds(made.seeds, inPit(seeds), this.centre(pit));
      made.number.textContent = seeds;
      made.number.classList.toggle("empty", seeds === 0);
    }

    paintTray(side, captured) {
      const { seeds, number, box } = this.owners[side];
      drawSeeds(seeds, inTray(captured, box.width - 14, box.height - 8), [box.x + 7, box.y + 4]);
      number.textContent = captured;
    }

    paintPlayable(legal) {
      const mover = this.state.over ? -1 : this.state.mover;
      this.pits.forEach((made, pit) => {
        const column = pit % this.columns;
        const playable = this.side(pit) === mover && legal.includes(column);
        made.hole.classList.toggle("playable", playable);
        made.label.classList.toggle("playable", playable);
        const hint = playable ? this.hints.get(column) : undefined;
        made.label.textContent = hint ? `${column}: ${hint.text}` : column;
        made.label.classList.toggle("best", Boolean(hint && hint.best));
        made.hole.classList.toggle("best", Boolean(hint && hint.best));
        if (made.hit) {
          this.paintHit(made.hit, playable && this.state.choosable, column, made.drawn, hint);
        }
      });
    }

    paintHit(hit, choosable, column, seeds, hint) {
      if (!choosable) {
        for (const name of ["tabindex", "role", "aria-label"]) {
          hit.removeAttribute(name);
        }
        return;
      }
      hit.setAttribute("tabindex", "0");
      hit.setAttribute("role", "button");
      const known = hint ? `, ${hint.text}` : "";
      hit.setAttribute("aria-label", `Play column ${column}, ${seeds} seeds${known}`);
    }

    mark(pit, kind) {
      const [x, y] = this.centre(pit);
      element("circle", { cx: x, cy: y, r: PIT, class: `mark ${kind}` }, this.markLayer);
    }

    /** Draws the way of the last move, and marks where it began, ended and captured. */
    paintWay() {
      this.wayLayer.replaceChildren();
      this.markLayer.replaceChildren();
      this.handLayer.replaceChildren();
      const { move } = this;
      if (!move) {
        return;
      }
      const laps = this.passed(move);
      laps.forEach((lap, index) => this.paintLap(lap, index - (laps.length - 1) / 2, laps.length));
      this.mark(move.laps[0], "from");
      if (move.last !== null) {
        this.mark(move.last, "last");
      }
      for (const pit of move.taken) {
        this.mark(pit, "taken");
      }
    }

    /** Lists the pits that the last laps pass; of a move that was cut, the first laps. */
    passed(move) {
      const pits = 2 * this.columns;
      let laps = [];
      for (let index = 0; index < move.laps.length; index += 2) {
        const count = Math.abs(move.laps[index + 1]);
        const step = Math.sign(move.laps[index + 1]);
        const lap = [];
        for (let drop = Math.max(count - pits, 0); drop <= count; drop += 1) {
          lap.push((((move.laps[index] + step * drop) % pits) + pits) % pits);
        }
        laps.push({ lap, step });
      }
      if (!move.cut) {
        laps.reverse();
      }
      let room = MOST_ROUNDS * pits + 1;
      laps = laps.filter(({ lap }) => (room -= lap.length) >= 0);
      return move.cut ? laps : laps.reverse();
    }

    /** Draws one lap, so far outside of the middles of the pits as tells it from the others. */
    paintLap({ lap, step }, index, laps) {
      const out = index * Math.min(24 / laps, 5);
      const at = (pit) => {
        const [x, y] = this.centre(pit);
        return [x, this.side(pit) === 0 ? y + out : y - out];
      };
      let way = "";
      let from = null;
      let before = null;
      for (const pit of lap) {
        const here = at(pit);
        if (before === null) {
          way = `M${here[0]} ${here[1]}`;
        } else {
          const there = at(before);
          const right = (step > 0) === (before < this.columns);
          const [band, place] = this.place(pit);
          const [bandBefore, placeBefore] = this.place(before);
          if (this.side(before) !== this.side(pit)) {
            const x = here[0] + (right ? 1 : -1) * (PIT + 0.8 * out);
            way += `H${x}V${here[1]}H${here[0]}`;
            from = [x, here[1]];
          } else if (band !== bandBefore) {
            const edge = placeBefore > place ? 0.7 * PITCH : -0.7 * PITCH;
            way += `H${there[0] + edge}M${here[0] - edge} ${here[1]}H${here[0]}`;
            from = [here[0] - edge, here[1]];
          } else {
            way += `L${here[0]} ${here[1]}`;
            from = there;
          }
        }
        before = pit;
      }
      element("path", { d: way, class: "way" }, this.wayLayer);
      if (from) {
        this.paintArrow(from, at(before));
      }
    }

    paintArrow([fromX, fromY], [toX, toY]) {
      const length = Math.max(Math.hypot(toX - fromX, toY - fromY), 1);
      const x = (7 * (toX - fromX)) / length;
      const y = (7 * (toY - fromY)) / length;
      const tip = [toX + 0.6 * x, toY + 0.6 * y];
      const wing = (turned) => `${tip[0] - 1.4 * x - turned * y},${tip[1] - 1.4 * y + turned * x}`;
      const points = `${tip[0]},${tip[1]} ${wing(0.65)} ${wing(-0.65)}`;
      element("polygon", { points, class: "arrow" }, this.wayLayer);
    }

    /** Shows how many seeds are in the hand, beside the pit that it is at. */
    paintHand(pit, seeds) {
      this.handLayer.replaceChildren();
      const [x, y] = this.centre(pit);
      element("circle", { cx: x, cy: y, r: PIT, class: "mark at" }, this.handLayer);
      if (seeds > 0) {
        const height = this.side(pit) === 1 ? y - PIT - 13 : y + PIT + 13;
        element("rect", { x: x - 17, y: height - 11, width: 34, height: 22, rx: 11, class: "hand" }, this.handLayer);
        this.text(x, height + 5.5, 15, "middle", "in-hand", this.handLayer).textContent = seeds;
      }
    }

    say(line) {
      this.line.textContent = line;
      this.line.removeAttribute("textLength");
      const room = this.width - 2 * PAD;
      if (this.line.getComputedTextLength() > room) {
        this.line.setAttribute("textLength", room);
        this.line.setAttribute("lengthAdjust", "spacingAndGlyphs");
      }
    }

    describe() {
      const { pits, captured, line } = this.state;
      const row = (side) => {
        const seeds = pits.slice(side * this.columns, (side + 1) * this.columns).join(" ");
        return `${SIDES[side]}'s row ${seeds}, captured ${captured[side]}`;
      };
      this.svg.setAttribute("aria-label", `${row(0)}. ${row(1)}. ${line}.`);
    }

    /** Lists what happens in a move, step by step: its kind, pit, seeds in the hand, lap and time. */
    steps(move) {
      const pits = 2 * this.columns;
      const steps = [];
      let lap = 0;
      for (let index = 0; index < move.laps.length; index += 2) {
        lap += 1;
        const count = Math.abs(move.laps[index + 1]);
        const step = Math.sign(move.laps[index + 1]);
        let pit = move.laps[index];
        steps.push({ kind: "lift", pit, hand: count, lap, time: LIFT });
        for (let hand = count - 1; hand >= 0; hand -= 1) {
          pit = (pit + step + pits) % pits;
          steps.push({ kind: "drop", pit, hand, lap, time: DROP });
        }
      }
      const total = steps.reduce((sum, { time }) => sum + time, 0);
      const faster = Math.min(1, MOST_TIME / total);
      steps.forEach((step) => {
        step.time *= faster;
      });
      if (move.taken.length) {
        steps.push({ kind: "take", pit: move.last, hand: 0, lap, time: TAKE });
      }
      steps.push({ kind: "rest", pit: steps[steps.length - 1].pit, hand: 0, lap, time: 300 });
      return steps;
    }

    take(step, move, moving) {
      if (step.kind === "lift") {
        moving.pits[step.pit] = 0;
      } else if (step.kind === "drop") {
        moving.pits[step.pit] += 1;
      } else if (step.kind === "take") {
        for (const pit of move.taken) {
          moving.pits[pit] = 0;
          this.mark(pit, "taken");
          this.paintSeeds(pit, 0);
        }
        moving.captured[move.mover] += move.captured;
        this.paintTray(move.mover, moving.captured[move.mover]);
      }
      this.paintSeeds(step.pit, moving.pits[step.pit]);
    }

    saySowing(step, move) {
      const laps = move.cut ? "of a sowing without end" : `of ${move.laps.length / 2}`;
      const what = `${SIDES[move.mover]} sows column ${move.column}: lap ${step.lap} ${laps}`;
      this.say(step.kind === "take" ? `${what}, takes ${move.captured}` : `${what}, ${step.hand} in hand`);
    }

    /**
     * Sows a move from the position shown and comes to rest at the one it leads to.
     *
     * `speed()` is asked while it goes on. The promise is true when it came to rest, false when
     * something else was shown meanwhile.
     */
    sow(move, after, speed) {
      this.stop();
      if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
        this.show(after, move);
        return Promise.resolve(true);
      }
      const moving = { pits: [...this.state.pits], captured: [...this.state.captured] };
      const steps = this.steps(move);
      this.move = null;
      this.hints = new Map();
      this.paintPlayable([]);
      this.paintWay();
      this.mark(move.laps[0], "from");
      return new Promise((resolve) => {
        let next = 0;
        let left = 0;
        let time = null;
        const end = (rested) => {
          cancelAnimationFrame(this.running.frame);
          this.running = null;
          if (rested) {
            this.show(after, move);
          }
          resolve(rested);
        };
        const tick = (now) => {
          left -= time === null ? 0 : (now - time) * speed();
          time = now;
          let step = null;
          while (left <= 0 && next < steps.length) {
            step = steps[next];
            this.take(step, move, moving);
            left += step.time;
            next += 1;
          }
          if (left <= 0) {
            end(true);
            return;
          }
          if (step) {
            this.paintHand(step.pit, step.hand);
            this.saySowing(step, move);
          }
          this.running.frame = requestAnimationFrame(tick);
        };
        this.running = { end, frame: requestAnimationFrame(tick) };
      });
    }

    /** Brings a sowing to rest at once. */
    finish() {
      if (this.running) {
        this.running.end(true);
      }
    }

    /** Leaves a sowing for something else. */
    stop() {
      if (this.running) {
        this.running.end(false);
      }
    }
  }

  return Board;
})();

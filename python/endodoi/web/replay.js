// Replays: recorded games, move by move.
"use strict";

(() => {
  const games = JSON.parse(document.getElementById("games").textContent);
  const get = (id) => document.getElementById(id);
  const SIDES = ["South", "North"];
  const SPEEDS = [0.25, 0.5, 1, 2, 4, 8, 16];

  let game = games[0];
  let ply = 0;
  let playing = false;
  let waiting = 0;
  let board = null;

  const speed = () => Number(get("speed").value);
  const last = () => game.moves.length;

  /** Shows the position after some plies at rest. */
  const goTo = (target) => {
    clearTimeout(waiting);
    ply = Math.max(0, Math.min(target, last()));
    board.show(game.positions[ply], ply > 0 ? game.moves[ply - 1] : null);
    update();
  };

  /** Tells what the page is at: controls, list of moves, notes. */
  const update = () => {
    get("ply").value = ply;
    get("ply").setAttribute("aria-valuetext", `${ply} of ${last()} plies`);
    get("count").textContent = `${ply} / ${last()}`;
    get("play").textContent = playing ? "Pause" : "Play";
    for (const id of ["first", "back"]) {
      get(id).disabled = ply === 0 && !board.running;
    }
    for (const id of ["forward", "last"]) {
      get(id).disabled = ply === last();
    }
    document.body.dataset.ply = ply;
    document.body.dataset.playing = playing;
    document.body.dataset.sowing = Boolean(board.running);
    const shown = board.running ? ply + 1 : ply;
    for (const button of get("moves").querySelectorAll("button")) {
      const current = Number(button.dataset.ply) === shown;
      if (!current) {
        button.removeAttribute("aria-current");
      } else {
        button.setAttribute("aria-current", "step");
        const list = get("moves");
        list.scrollTop = button.offsetTop - list.offsetTop - list.clientHeight / 2;
      }
    }
    get("note").textContent = ply === last() ? game.note : "";
    get("news").textContent = board.running ? "" : told();
  };

  /** Says in words what the last move did. */
  const told = () => {
    const { line } = game.positions[ply];
    return ply === 0 ? line : `${game.moves[ply - 1].text}. ${line}`;
  };

  /** Sows the next move, or brings the one that is being sown to rest. */
  const forward = async () => {
    if (board.running) {
      board.finish();
      return;
    }
    if (ply === last()) {
      stop();
      return;
    }
    clearTimeout(waiting);
    const from = game;
    const sowing = board.sow(game.moves[ply], game.positions[ply + 1], speed);
    update();
    if (!(await sowing) || from !== game) {
      return;
    }
    ply += 1;
    if (ply === last()) {
      playing = false;
    }
    update();
    goOn();
  };

  const goOn = () => {
    if (playing && !board.running) {
      waiting = setTimeout(forward, 500 / speed());
    }
  };

  const back = () => {
    stop();
    goTo(board.running ? ply : ply - 1);
  };

  const stop = () => {
    playing = false;
    clearTimeout(waiting);
    update();
  };

  const toggle = () => {
    if (playing) {
      stop();
      return;
    }
    if (ply === last() && !board.running) {
      goTo(0);
    }
    playing = true;
    update();
    if (!board.running) {
      forward();
    }
  };

  const jump = (target) => {
    stop();
    goTo(target);
  };

  const faster = (by) => {
    const chosen = get("speed");
    chosen.selectedIndex = Math.max(0, Math.min(chosen.selectedIndex + by, chosen.options.length - 1));
  };

  const make = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  };

  const listMoves = () => {
    const list = get("moves");
    list.replaceChildren();
    game.moves.forEach((move, index) => {
      const item = make("li", "", list);
      const button = make("button", "", item);
      button.type = "button";
      button.dataset.ply = index + 1;
      make("span", `${index + 1}.`, button).className = "at";
      make("span", SIDES[move.mover], button).className = `side ${SIDES[move.mover].toLowerCase()}`;
      make("b", move.column, button);
      make("span", move.short, button).className = "what";
      button.setAttribute("aria-label", `Ply ${index + 1}: ${move.text}`);
      button.addEventListener("click", () => jump(index + 1));
    });
    get("no-moves").hidden = last() > 0;
  };

  const choose = (index) => {
    playing = false;
    clearTimeout(waiting);
    game = games[index];
    get("south").textContent = game.players[0];
    get("north").textContent = game.players[1];
    get("result").textContent = game.result;
    get("rules").textContent = game.rules;
    get("ply").max = last();
    listMoves();
    if (board) {
      board.resize(game.columns);
    } else {
      board = new Board(get("board"), game.columns);
    }
    goTo(0);
  };

  for (const value of SPEEDS) {
    const option = make("option", `${value}×`, get("speed"));
    option.value = value;
    option.selected = value === 1;
  }
  games.forEach((one, index) => {
    make("option", `${index + 1}. ${one.players.join(" – ")}: ${one.result}`, get("game")).value = index;
  });
  get("choice").hidden = games.length < 2;
  get("game").addEventListener("change", () => choose(get("game").selectedIndex));
  get("first").addEventListener("click", () => jump(0));
  get("back").addEventListener("click", back);
  get("play").addEventListener("click", toggle);
  get("forward").addEventListener("click", () => {
    stop();
    forward();
  });
  get("last").addEventListener("click", () => jump(last()));
  get("ply").addEventListener("input", () => jump(Number(get("ply").value)));

  const keys = {
    ArrowRight: () => get("forward").click(),
    ArrowLeft: back,
    Home: () => jump(0),
    End: () => jump(last()),
    " ": toggle,
    "+": () => faster(1),
    "-": () => faster(-1),
  };
  document.addEventListener("keydown", (event) => {
    const { target } = event;
    const button = target.closest("button");
    const takes = target.closest("select, input") || (button && (event.key === " " || event.key === "Enter"));
    const act = keys[event.key];
    if (takes || !act || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    event.preventDefault();
    act();
  });

  /** Goes where the address says: #ply=12, or #game=2&ply=12. */
  const follow = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    const number = (name) => (/^\d+$/.test(asked.get(name) ?? "") ? Number(asked.get(name)) : null);
    const wanted = number("game");
    if (wanted !== null && games[wanted - 1] && games[wanted - 1] !== game) {
      get("game").selectedIndex = wanted - 1;
      choose(wanted - 1);
    }
    if (number("ply") !== null) {
      jump(number("ply"));
    }
  };

  choose(0);
  follow();
  addEventListener("hashchange", follow);
})();

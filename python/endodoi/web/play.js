// A game against a player of this machine.
"use strict";

(() => {
  const get = (id) => document.getElementById(id);
  const SIDES = ["South", "North"];
  const SPEEDS = [0.5, 1, 2, 4, 8, 32];

  let view = JSON.parse(get("view").textContent);
  let busy = false;
  let typed = "";
  let board = null;

  const speed = () => Number(get("speed").value);

  const make = (name, text, parent) => {
    const made = document.createElement(name);
    made.textContent = text;
    parent.append(made);
    return made;
  };

  /** Asks the server; its reason is the error where it refuses. */
  const ask = async (what, request) => {
    let answer = null;
    try {
      answer = await fetch(what, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(request),
      });
    } catch {
      throw new Error("The game's server does not answer: was it ended?");
    }
    const found = await answer.json();
    if (!answer.ok) {
      throw new Error(found.error);
    }
    return found;
  };

  const here = () => ({ game: view.game, ply: view.ply });

  const note = (text, wrong = false) => {
    get("note").textContent = text;
    get("note").classList.toggle("wrong", wrong);
  };

  const update = () => {
    get("undo").disabled = busy || !view.undo;
    get("hint").disabled = busy || !view.position.choosable;
    get("skip").disabled = !board.running;
    get("south").textContent = view.players[0];
    get("north").textContent = view.players[1];
    get("rules").textContent = view.rules;
    document.body.dataset.ply = view.ply;
    document.body.dataset.game = view.game;
    document.body.dataset.busy = busy;
    listMoves();
  };

  const listMoves = () => {
    const list = get("moves");
    list.replaceChildren();
    view.moves.forEach((move, index) => {
      const item = make("li", "", list);
      make("span", `${index + 1}.`, item).className = "at";
      make("span", SIDES[move.mover], item).className = `side ${SIDES[move.mover].toLowerCase()}`;
      make("b", move.column, item);
      make("span", move.short, item).className = "what";
    });
    list.scrollTop = list.scrollHeight;
    get("no-moves").hidden = view.moves.length > 0;
  };

  /** Shows a view at rest. */
  const show = (shown) => {
    view = shown;
    if (board.columns !== view.columns) {
      board.resize(view.columns);
    }
    const { moves } = view;
    board.show(view.position, moves.length ? moves[moves.length - 1] : null);
    update();
  };

  /** Sows the last move of a view, then shows it at rest. */
  const sow = async (shown) => {
    const move = shown.moves[shown.moves.length - 1];
    const sowing = board.sow(move, shown.position, speed);
    view = shown;
    update();
    await sowing;
    note(`${move.text}. ${shown.note}`);
  };

  /** Does one thing after the other; meanwhile nothing else can be asked for. */
  const alone = async (work) => {
    if (busy) {
      return;
    }
    busy = true;
    typed = "";
    update();
    try {
      await work();
    } catch (error) {
      show(view);
      note(error.message, true);
    } finally {
      busy = false;
      update();
    }
  };

  /** Lets the player move while it is its turn. */
  const answer = async () => {
    while (view.waiting) {
      const slow = setTimeout(() => board.say(`${view.opponent} is thinking ...`), 250);
      try {
        const shown = await ask("reply", here());
        clearTimeout(slow);
        await sow(shown);
      } finally {
        clearTimeout(slow);
      }
    }
  };

  const choose = (column) =>
    alone(async () => {
      await sow(await ask("move", { ...here(), column }));
      await answer();
    });

  const undo = () =>
    alone(async () => {
      show(await ask("undo", here()));
      note("Your last move is taken back.");
    });

  const hint = () =>
    alone(async () => {
      note("Looking for a hint ...");
      const found = await ask("hint", here());
      const known = new Map();
      for (const [column, text] of Object.entries(found.values)) {
        known.set(Number(column), { text, best: found.best.includes(Number(column)) });
      }
      board.showHints(known);
      note(`${found.text[0].toUpperCase()}${found.text.slice(1)}.`);
    });

  const begin = () =>
    alone(async () => {
      const request = {
        opponent: get("opponent").value.trim(),
        side: get("side").value,
        variant: get("variant").value,
        columns: Number(get("columns").value),
        seeds_per_pit: Number(get("seeds").value),
      };
      show(await ask("new", request));
      fill();
      note("A new game.");
      await answer();
    });

  /** Fills the form of a new game with what this one is. */
  const fill = () => {
    get("opponent").value = view.opponent;
    get("side").value = view.side;
    get("variant").value = view.variant;
    get("columns").value = view.columns;
    get("seeds").value = view.seeds_per_pit;
    get("opponents").replaceChildren();
    for (const name of view.opponents) {
      make("option", "", get("opponents")).value = name;
    }
  };

  /** Moves the focus to the pit of a column that is typed digit by digit. */
  const type = (digit) => {
    const legal = view.position.choosable ? view.position.legal : [];
    const goesOn = (start) => legal.some((column) => String(column).startsWith(start));
    typed = goesOn(typed + digit) ? typed + digit : digit;
    const column = Number(typed);
    if (legal.includes(column)) {
      const pit = view.position.mover === 0 ? column : view.columns + column;
      board.pits[pit].hit.focus();
    }
  };

  board = new Board(get("board"), view.columns, choose);
  for (const value of SPEEDS) {
    const option = make("option", `${value}×`, get("speed"));
    option.value = value;
    option.selected = value === 1;
  }
  get("undo").addEventListener("click", undo);
  get("hint").addEventListener("click", hint);
  get("skip").addEventListener("click", () => board.finish());
  get("new").addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("select, input")) {
      return;
    }
    if (event.key === "u") {
      undo();
    } else if (event.key === "h") {
      hint();
    } else if (event.key === " " && board.running) {
      event.preventDefault();
      board.finish();
    } else if (/^[0-9]$/.test(event.key)) {
      type(event.key);
    }
  });

  fill();
  show(view);
  note(view.note || `You are ${SIDES[view.side === "south" ? 0 : 1]}.`);
  alone(answer);
})();

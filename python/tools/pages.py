"""Write the pages of the environments from the package itself.

    python python/tools/pages.py           write docs/environments
    python python/tools/pages.py --check   tell whether the pages there are up to date

Sizes, spaces, defaults and texts are those of the registered environments and their docstrings;
what the examples show is what they printed when the page was written.
"""

from __future__ import annotations

import codeop
import contextlib
import inspect
import io
import sys
from pathlib import Path
from typing import Any

import gymnasium

import endodoi
import page_texts as words
from docstrings import entries, fill, paragraph, table, write_table
from endodoi.registration import ENV_IDS, VERSIONS

FOLDER = Path(__file__).parents[2] / "docs" / "environments"


def session(source: str) -> str:
    """Run the statements of an example and return them with what they print, as in a terminal."""
    names: dict[str, Any] = {}
    shown: list[str] = []
    for statement in statements(source):
        lines = statement.split("\n")
        shown += [f">>> {lines[0]}", *(f"... {line}".rstrip() for line in lines[1:])]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            try:
                code = compile(statement + "\n", "<example>", "single")
                exec(code, names)  # noqa: S102
            except endodoi.EndodoiError as error:
                kind = type(error)
                print("Traceback (most recent call last):\n    ...")
                print(f"{kind.__module__}.{kind.__qualname__}: {error}")
        shown += [line.rstrip() for line in output.getvalue().splitlines()]
    return "\n".join(["```pycon", *shown, "```"])


def statements(source: str) -> list[str]:
    """Return the statements of an example, one after the other."""
    found: list[str] = []
    pending: list[str] = []
    lines = [line for line in source.split("\n") if line]
    for at, line in enumerate(lines):
        pending.append(line)
        goes_on = at + 1 < len(lines) and lines[at + 1][:1] in {" ", ")", "]", "}"}
        if not goes_on and codeop.compile_command("\n".join(pending) + "\n", symbol="single"):
            found.append("\n".join(pending))
            pending = []
    if pending:
        raise SyntaxError(f"the example ends within a statement: {pending}")
    return found


def rules(variant: str) -> str:
    """Return the fields of the rule set with their defaults."""
    texts = entries(endodoi.Ruleset, "Parameters")
    rows = [["field", "here", "meaning"]]
    for field, value in endodoi.Ruleset(variant).to_dict().items():
        rows.append([f"`{field}`", f"`{value!r}`", texts[field][1].split(" Default")[0]])
    return write_table(rows)


def observation(variant: str) -> str:
    """Return what each index of the observation holds, as the space says."""
    ruleset = endodoi.Ruleset(variant)
    view: Any = endodoi.Env(ruleset).observation_space
    start = endodoi.Position.start(ruleset).observation()
    columns = ruleset.columns
    ranges = [
        (0, columns, "own row, from the mover's left: index i is the pit that action i sows"),
        (
            columns,
            2 * columns,
            "other row, from its owner's left, so facing the mover right to left",
        ),
        (2 * columns, 2 * columns + 1, "seeds the mover has captured"),
        (2 * columns + 1, 2 * columns + 2, "seeds the other side has captured"),
        (2 * columns + 2, 2 * columns + 3, "plies since the last capture (E3)"),
    ]
    rows = [["index", "holds", "low", "high", "at the start"]]
    for first, end, text in ranges:
        values = [
            sorted({int(v) for v in part[first:end]}) for part in (view.low, view.high, start)
        ]
        index = f"{first}" if end == first + 1 else f"{first} to {end - 1}"
        rows.append([index, text, *(", ".join(map(str, part)) for part in values)])
    return write_table(rows)


def ends() -> str:
    """Return the ends of games, by the order of their numbers."""
    rows = [["`end_reason`", "name", "clause", "when", "flag", "reward"]]
    for number, name in enumerate(endodoi.GameTable.END_REASONS):
        told = words.ENDS[name]
        if told is not None:
            clause, *rest = told
            heading = {"E": "end", "S": "sowing"}.get(clause[0])
            link = f"[{clause}](../rules.md#{heading})" if heading else clause
            rows.append([str(number), name, link, *rest])
    return write_table(rows)


def arguments() -> str:
    """Return the arguments of both environments with their defaults."""
    batch, single = (
        inspect.signature(kind).parameters for kind in (endodoi.VectorEnv, endodoi.Env)
    )
    rows = [["argument", "`VectorEnv`", "`Env`", "meaning"]]
    for name, (_, text) in entries(endodoi.VectorEnv, "Parameters").items():
        shown = [default(kind, name.lstrip("*")) for kind in (batch, single)]
        rows.append([f"`{name}`", *shown, text])
    return write_table(rows)


def default(parameters: Any, name: str) -> str:
    """Return the default of a parameter as a cell."""
    if name not in parameters:
        return "not there"
    parameter = parameters[name]
    if parameter.kind is parameter.VAR_KEYWORD:
        return "the variant's"
    return "required" if parameter.default is parameter.empty else f"`{parameter.default!r}`"


def errors() -> str:
    """Return what the methods of the vector environment raise."""
    rows = [["call", "error", "when"]]
    for name in ("reset", "step", "set_opponent", "set_state"):
        for error, (_, text) in entries(getattr(endodoi.VectorEnv, name), "Raises").items():
            rows.append([f"`{name}`", f"`{error}`", text])
    return write_table(rows)


def versions(env_id: str) -> str:
    """Return the history of an id, its newest version first."""
    rows = [["version", "what changed"]]
    rows += [[f"`{version}`", text] for version, text in VERSIONS[env_id].items()]
    return write_table(rows)


def facts(env_id: str, variant: str) -> str:
    """Return what an environment is at a glance."""
    spec = gymnasium.spec(env_id)
    env = endodoi.Env(variant=variant)
    rows = [
        ["what", "here"],
        ["id", f"`{spec.id}`"],
        ["entry points", f"`{spec.entry_point}`, `{spec.vector_entry_point}`"],
        ["board", board(env.ruleset)],
        ["observation", f"int16 {list(env.observation_space.shape or ())}"],
        ["action", f"`{env.action_space}`"],
        ["reward", "+1, 0, -1 at the end, else 0"],
        ["agents", "one: the side to move in self-play, or one side against `opponent`"],
        ["nondeterministic", f"`{spec.nondeterministic}`"],
    ]
    return write_table(rows)


def board(ruleset: endodoi.Ruleset) -> str:
    """Return the size of a board in words."""
    return f"2x{ruleset.columns}, {ruleset.seeds_per_pit} seeds a pit"


def views(variant: str) -> list[str]:
    """Return the parts of a page on observations and actions."""
    columns = endodoi.Ruleset(variant).columns
    last = 2 * columns - 1
    return [
        "## Observation",
        fill(
            f"int16 [{last + 4}], of the side to move. Both sides see their own row first (B4), so "
            "one policy plays both. With `mask_in_obs=True` it is a dictionary of this array and "
            "the mask."
        ),
        observation(variant),
        fill(
            f"Indices 0 to {last} are the ring as the mover sees it (B2): anticlockwise sowing "
            f"goes to the next index, from {last} on to 0, and the pit opposite to index i is "
            f"{last} - i. At the end it is the view of the side whose turn it would be. High is "
            "what a game from the start can hold."
        ),
        "## Action",
        fill(
            f"`Discrete({columns})`: the column of the mover's own row, from its left (B4). "
            f'`infos["action_mask"]` int8 [{columns}] has 1 for each legal one: a pit that holds '
            'seeds and whose sowing ends (S6), or with `endless="draw"` any pit that holds seeds.'
        ),
    ]


def variant_page(env_id: str, variant: str) -> str:
    """Return the page of one environment."""
    parts = [
        words.NOTE,
        f"# {words.NAMES[variant]}",
        fill(words.ABOUT[variant]),
        facts(env_id, variant),
        f"```python\n{words.MAKING.format(env_id=env_id)}```",
        fill(words.SHARED),
        "## Rules",
        "Each field is a keyword argument; the clauses are those of [rules.md](../rules.md).",
        rules(variant),
        *views(variant),
        "## Reward",
        reward(),
        "## Ends",
        ends(),
        fill(words.BOTH_FLAGS),
        "## Autoreset, terminal mask, illegal moves, seeds",
        words.EDGES,
        "## Example",
        fill(words.EXAMPLE_TEXT),
        session(example(env_id, variant)),
        "## Version history",
        "The version changes exactly when the behaviour does.",
        versions(env_id),
    ]
    return "\n\n".join(parts) + "\n"


def reward() -> str:
    """Return what rewards are, in the words of the docstring."""
    text = next(row[2] for row in table(endodoi.VectorEnv) if row[0] == "reward")
    return fill(f"{text}. Seeds captured on the way give none.")


def example(env_id: str, variant: str) -> str:
    """Return the source of the example: a capture, an illegal move, a game to its end."""
    start = endodoi.Position.start(endodoi.Ruleset(variant))
    column = next(c for c in start.legal_moves() if start.sow(c).captured)
    # A wide board does not fit a page.
    picture = "print(env.position)" if start.ruleset.columns <= words.WIDEST else ""
    return f"""
import gymnasium
import endodoi as ed
env = gymnasium.make("{env_id}").unwrapped
observation, info = env.reset(seed=1)
print(observation)
print(info["action_mask"], info["to_play"])
env.position.sow({column}).captured
observation, reward, terminated, truncated, info = env.step({column})
print(observation)
{picture}
reward, terminated, truncated, int(info["to_play"])
action = int(info["action_mask"].argmin())
observation, reward, terminated, truncated, info = env.step(action)
reward, terminated, ed.GameTable.END_REASONS[info["end_reason"]]
policy = ed.policies.Random(seed=2)
observation, info = env.reset()
terminated = truncated = False
while not (terminated or truncated):
    (action,) = policy(observation[None], info["action_mask"][None])
    observation, reward, terminated, truncated, info = env.step(action)
reward, terminated, truncated
print(info["action_mask"])
int(info["outcome"]), info["captured"].tolist(), int(info["plies"])
ed.GameTable.END_REASONS[info["end_reason"]]
"""


def index_page() -> str:
    """Return the page of what all environments share."""
    batch = endodoi.VectorEnv
    parts = [
        words.NOTE,
        "# Environments",
        fill(words.REGISTERED),
        overview(),
        fill(words.CLASSES),
        "## A step",
        paragraph(batch, "In self-play each step"),
        write_table(table(batch)),
        paragraph(batch, "`infos` holds"),
        paragraph(batch, "A game that is over before"),
        "## Autoreset",
        "What each mode returns for the row of a game that ends:",
        write_table(words.MODES),
        paragraph(batch, "Autoreset:"),
        session(words.AUTORESET),
        "## Opponents",
        words.OPPONENTS,
        session(words.SWAP),
        "## Arrays in place",
        fill(f"`out`: {entries(batch, 'Parameters')['out'][1]}"),
        session(words.IN_PLACE),
        "## Snapshots, copies, processes, threads",
        words.SNAPSHOTS,
        session(words.SNAPSHOT),
        "## Seeds",
        paragraph(batch, "An integer seed", "Notes"),
        session(words.SEEDS),
        "## Errors",
        fill(words.ERRORS),
        errors(),
        session(words.REFUSED),
        "## Arguments",
        arguments(),
    ]
    return "\n\n".join(parts) + "\n"


def overview() -> str:
    """Return a line for each environment, with its page."""
    rows = [["page", "id", "board", "observation", "action"]]
    for env_id, variant in ENV_IDS.items():
        env = endodoi.Env(variant=variant)
        page = f"[{words.NAMES[variant]}]({variant}.md)"
        shape = f"int16 {list(env.observation_space.shape or ())}"
        rows.append([page, f"`{env_id}`", board(env.ruleset), shape, f"`{env.action_space}`"])
    return write_table(rows)


def pages() -> dict[Path, str]:
    """Return the text of every page."""
    texts = {FOLDER / f"{variant}.md": variant_page(i, variant) for i, variant in ENV_IDS.items()}
    return {FOLDER / "index.md": index_page(), **texts}


def stale() -> list[Path]:
    """Return the pages that are not what would be written now."""
    return [
        path
        for path, text in pages().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Write the pages, or check them, and return the exit status."""
    if arguments not in ([], ["--check"]):
        print(f"unknown arguments {arguments}, expected none or --check", file=sys.stderr)
        return 2
    if arguments:
        old = stale()
        for path in old:
            print(f"{path.relative_to(FOLDER.parents[1])} is out of date: make pages writes it")
        return 1 if old else 0
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

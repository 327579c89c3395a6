"""Report cards as texts: for the terminal, as Markdown, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from endodoi._core import Ruleset
from endodoi.wording import counted, readable, signed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from endodoi.report_card import CardGames, CardPart, CardRegret, ReportCard
    from endodoi.summary import Mean, Share

__all__ = ["card_text", "comparison_text", "table_lines"]

GAMES_HEAD = ("against", "games", "won", "drawn", "lost", "score", "95 %", "margin", "distinct")
REGRET_HEAD = ("positions", "", "optimal moves", "change the outcome", "seeds lost a move")

#: What stands where a card has nothing.
NOTHING = "-"


def card_text(card: ReportCard, *, markdown: bool) -> str:
    """Return a card."""
    title = f"Report card of {code(card.player, markdown=markdown)}"
    facts = f"Benchmark suite {card.suite}, scale {card.scale}, endodoi {card.endodoi}"
    parts = [f"# {title}\n\n{facts}." if markdown else f"{title}\n{facts}"]
    parts += [part_text(part, markdown=markdown) for part in card.parts]
    if not card.parts:
        parts.append("No board is finished yet.")
    return "\n\n".join(parts) + "\n"


def part_text(part: CardPart, *, markdown: bool) -> str:
    """Return a board of a card."""
    heading = f"{part.name}: {Ruleset.from_dict(part.ruleset)}"
    lines = [f"## {heading}\n" if markdown else heading]
    if part.cannot_play is not None or part.overall is None:
        return "\n".join([*lines, f"Cannot play: {part.cannot_play}"])
    rows = [games_row(one, markdown=markdown) for one in part.opponents]
    rows.append(games_row(part.overall, markdown=markdown))
    lines += table_lines([GAMES_HEAD, *rows], markdown=markdown)
    if part.regret is not None:
        lines += ["", *table_lines([REGRET_HEAD, *regret_rows(part.regret)], markdown=markdown)]
    if faults := faults_of(part):
        lines += ["", faults]
    return "\n".join(lines)


def games_row(games: CardGames, *, markdown: bool) -> tuple[str, ...]:
    """Return the games against an opponent as texts."""
    name = games.opponent
    return (
        name if name == "all" else code(name, markdown=markdown),
        f"{games.games:,}",
        f"{games.wins:,}",
        f"{games.draws:,}",
        f"{games.losses:,}",
        f"{games.score:.3f}",
        f"{games.low:.3f} to {games.high:.3f}",
        margin(games),
        f"{games.distinct:,}",
    )


def margin(games: CardGames) -> str:
    """Return a margin with its interval."""
    half = "" if games.margin_half is None else f" ± {games.margin_half:.1f}"
    return f"{signed(games.margin, 1)}{half}"


def regret_rows(regret: CardRegret) -> list[tuple[str, ...]]:
    """Return what the moves lose as texts, a row for each part of the game."""
    parts = {
        "all": regret.all,
        "opening": regret.opening,
        "middle": regret.middle,
        "endgame": regret.endgame,
    }
    return [
        (
            name,
            f"{part.positions:,}",
            share_text(part.optimal),
            share_text(part.outcome_changing),
            mean_text(part.seeds_lost),
        )
        for name, part in parts.items()
    ]


def share_text(share: Share) -> str:
    """Return a share with its interval."""
    return f"{100 * share.share:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})"


def mean_text(mean: Mean) -> str:
    """Return a mean with its interval, if it has one."""
    return f"{mean.mean:.2f}" + (f" ± {mean.half:.2f}" if math.isfinite(mean.half) else "")


def faults_of(part: CardPart) -> str:
    """Return what the player did wrong on a board, nothing if it did not."""
    found = []
    counts = {"illegal": part.illegal, "error": part.error, "late": part.late}
    if any(counts.values()):
        listed = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        found.append(f"Games lost by its own fault: {listed}; first: {one_line(part.failure)}.")
    regret = part.regret
    if regret is not None and regret.illegal + regret.error:
        found.append(
            f"Choices that count as the worst move: {regret.illegal} illegal, {regret.error} "
            f"error; first: {one_line(regret.failure)}."
        )
    return "\n".join(found)


def one_line(text: str | None) -> str:
    """Return a text without line breaks."""
    return readable(" ".join((text or "").split()))


def comparison_text(cards: Sequence[ReportCard], *, markdown: bool) -> str:
    """Return cards side by side: a row for each number, a column for each card."""
    longest_first = sorted(cards, key=lambda card: -len(card.parts))
    names = {part.name: None for card in longest_first for part in card.parts}
    head = ("board", "", *(code(card.player, markdown=markdown) for card in cards))
    rows: list[tuple[str, ...]] = []
    if len({card.scale for card in cards}) > 1:
        rows.append(("scale", "", *(card.scale for card in cards)))
    for name in names:
        found = [next((part for part in card.parts if part.name == name), None) for card in cards]
        rows += part_rows(name, found)
    facts = f"Benchmark suite {cards[0].suite}: scores and moves with 95 % intervals"
    lines = table_lines([head, *rows], markdown=markdown)
    return "\n".join([facts + (".\n" if markdown else ""), *lines]) + "\n"


def part_rows(name: str, parts: Sequence[CardPart | None]) -> list[tuple[str, ...]]:
    """Return the rows of a board, a cell for each card."""
    labels = {games.opponent: None for part in parts if part for games in part.opponents}
    rows = [
        (name, label, *(score_cell(part, label) for part in parts)) for label in ("all", *labels)
    ]
    if any(part and part.regret for part in parts):
        rows.append((name, "optimal moves", *(regret_cell(part, "optimal") for part in parts)))
        rows.append((name, "seeds lost", *(regret_cell(part, "seeds_lost") for part in parts)))
    if any(part and faults_of(part) for part in parts):
        rows.append((name, "faults", *(fault_cell(part) for part in parts)))
    return rows


def score_cell(part: CardPart | None, opponent: str) -> str:
    """Return the score against an opponent, or why there is none."""
    if part is None:
        return NOTHING
    if part.overall is None:
        return "cannot play"
    for games in (part.overall, *part.opponents):
        if games.opponent == opponent:
            return f"{games.score:.3f} ({games.low:.3f} to {games.high:.3f})"
    return NOTHING


def regret_cell(part: CardPart | None, number: str) -> str:
    """Return a number of the exam, if there is one."""
    if part is None or part.regret is None:
        return NOTHING
    everything = part.regret.all
    if number == "optimal":
        return share_text(everything.optimal)
    return mean_text(everything.seeds_lost)


def fault_cell(part: CardPart | None) -> str:
    """Return how often the player was at fault."""
    if part is None or part.overall is None:
        return NOTHING
    choices = 0 if part.regret is None else part.regret.illegal + part.regret.error
    games = part.illegal + part.error + part.late
    return f"{counted(games, 'game')}, {counted(choices, 'choice')}"


def code(name: str, *, markdown: bool) -> str:
    """Return a player's name as it is written."""
    return f"`{readable(name)}`" if markdown else readable(name)


def table_lines(rows: Sequence[Sequence[str]], *, markdown: bool) -> list[str]:
    """Return a table of texts, its columns aligned or as Markdown."""
    if markdown:
        lines = ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]

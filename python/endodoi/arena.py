"""Tournaments between players; regret against perfect play."""

from endodoi.books import balanced
from endodoi.regret import Answer, Exam, Regret, RegretPart, regret
from endodoi.tournament import (
    Chunk,
    Games,
    PairingStanding,
    PlayerStanding,
    SouthStanding,
    Standings,
    Tournament,
    tournament,
)

__all__ = [
    "Answer",
    "Chunk",
    "Exam",
    "Games",
    "PairingStanding",
    "PlayerStanding",
    "Regret",
    "RegretPart",
    "SouthStanding",
    "Standings",
    "Tournament",
    "balanced",
    "regret",
    "tournament",
]

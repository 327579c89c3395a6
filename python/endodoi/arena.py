"""Measures of players: regret against perfect play."""

from endodoi.regret import Answer, Exam, Regret, RegretPart, regret

__all__ = ["Answer", "Exam", "Regret", "RegretPart", "regret"]

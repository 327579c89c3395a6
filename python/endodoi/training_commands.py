"""The commands ``endodoi train`` and ``endodoi report``."""

from __future__ import annotations

import shlex
import sys
from importlib import import_module
from typing import TYPE_CHECKING

from endodoi.errors import MissingExtraError
from endodoi.learning_curve import draw_learning_curve
from endodoi.report import write_report
from endodoi.training import run_trainer, start_file

if TYPE_CHECKING:
    import argparse

    from endodoi.command_line import Commands
    from endodoi.training import TrainResult

__all__ = ["add_training", "train_command"]

#: Options and, of those that name a place, what they name.
OPTIONS = {
    "config": "configuration file in TOML; the options win over it",
    "learner": "value (the default) or gumbel",
    "variant": "en-dodoi, en-gehe or cross-endodoi",
    "columns": "pits in a row",
    "minutes": "minutes of training (default 5)",
    "seed": "seed of the run",
    "workers": "threads; 0 takes one for every core",
    "start": "start from the weights of this agent: file, run or shipped name",
    "out": "folder of the run (default: runs/VARIANT-2xC-NUMBER)",
    "resume": "go on with the run of this folder",
}
PLACES = {"config": "FILE", "start": "AGENT", "out": "FOLDER", "resume": "RUN"}

TRAIN_EXAMPLES = """\
examples:
  endodoi train --columns 6 --minutes 5
  endodoi train --variant en-gehe --columns 50 --minutes 30 --seed 7 --out runs/seven
  endodoi train --config x.toml --set optimiser.batch=256
  endodoi train --resume runs/seven --minutes 60
  endodoi train --start runs/ten --columns 20 --minutes 10

The agent is a player then: endodoi simulate --south agent:runs/seven. `endodoi doctor` tells
whether the trainer is there, `endodoi-train --help` all that it takes.
"""

REPORT_EXAMPLES = """\
examples:
  endodoi report runs/en-dodoi-2x6-001
  endodoi report runs/seven --out seven.html
"""


def add_training(commands: Commands) -> None:
    """Add the commands that train an agent and that report on a run."""
    train = commands.add_parser(
        "train",
        help="train an agent by self-play",
        description="Trains an agent by self-play with the program endodoi-train, which takes all "
        "options; those it knows beside these are passed on to it. At the end the learning curve "
        "is drawn and the report written, which needs matplotlib (pip install 'endodoi[plot]').",
        epilog=TRAIN_EXAMPLES,
    )
    train.set_defaults(run=train_command)
    for name, help_ in OPTIONS.items():
        train.add_argument(f"--{name}", help=help_, metavar=PLACES.get(name))
    cluster = train.add_argument_group("on a Ray cluster (pip install 'endodoi[ray]')")
    cluster.add_argument(
        "--ray", metavar="ADDRESS", help="actors play on a cluster: auto, local or an address"
    )
    cluster.add_argument("--actors", type=int, help="actors (default: as there is room for now)")
    cluster.add_argument("--actor-threads", type=int, help="threads of an actor (default 1)")
    report = commands.add_parser(
        "report",
        help="write the report of a training run",
        description="Writes one page of HTML with a run's results, curves and settings, and draws "
        "its learning curve; the run may still be going on. "
        "Needs matplotlib (pip install 'endodoi[plot]').",
        epilog=REPORT_EXAMPLES,
    )
    report.set_defaults(run=report_command)
    # The name `run` is that of the command.
    report.add_argument("folder", metavar="RUN", help="folder of the run")
    report.add_argument("--out", metavar="FILE", help="the page (default: RUN/report.html)")


def train_command(options: argparse.Namespace) -> int:
    """Train an agent, draw its learning curve and write its report."""
    given = {name: getattr(options, name) for name in OPTIONS}
    given["start"] = start_file(given["start"])
    if options.ray is not None:
        result = train_on_cluster(options, given)
    else:
        result = run_trainer([*words_of(given), *options.rest])
    try:
        print(f"picture:        {draw_learning_curve(result.run)}")
        print(f"report:         {write_report(result.run)}")
    except MissingExtraError as error:
        print(f"endodoi: no picture of the learning curve: {error}", file=sys.stderr)
    if result.finished:
        agent = shlex.quote(f"agent:{result.run}")
        print(f"play:           endodoi play --opponent {agent}")
    return 0


def words_of(given: dict[str, str | None]) -> list[str]:
    """Write options as the program reads them."""
    return [f"--{name}={value}" for name, value in given.items() if value is not None]


def train_on_cluster(options: argparse.Namespace, given: dict[str, str | None]) -> TrainResult:
    """Train with actors on a Ray cluster."""
    # Without Ray the first one names the extra.
    import_module("endodoi.ray")
    training = import_module("endodoi.ray_training")
    run = training.run_folder(given.pop("out"), given.pop("resume"))
    trained: TrainResult = training.learn(
        run,
        [*words_of(given), *options.rest],
        None,
        actors=options.actors,
        actor_threads=options.actor_threads or 1,
        address=options.ray,
    )
    return trained


def report_command(options: argparse.Namespace) -> int:
    """Write the report of a run and draw its learning curve."""
    page = write_report(options.folder, options.out)
    print(f"report:         {page}")
    print(f"picture:        {draw_learning_curve(options.folder)}")
    return 0

"""Trained agents as modules of PyTorch: look inside, fine-tune, write them back.

Needs the extra ``endodoi[torch]``. `load` reads an agent's file into a module with the same weights
under the same names, `save` writes the module as an agent that `Agent.load` plays without PyTorch.

Examples
--------
>>> import endodoi as ed
>>> env = ed.VectorEnv(4, columns=6, seed=1)
>>> observations, _ = env.reset()
>>> for name in ed.policies.shipped_agents():
...     network = ed.torch.load(name)
...     if network.ruleset.columns == 6:
...         assert network(torch.from_numpy(observations)).shape == (4,)
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from endodoi._core import Ruleset, agent_features, read_agent, write_agent
from endodoi.errors import ArgumentTypeError, ArgumentValueError
from endodoi.extras import missing

try:
    import torch
    from torch import nn
except ImportError as error:
    raise missing("PyTorch", "torch") from error

if TYPE_CHECKING:
    import os

__all__ = ["GumbelHeads", "GumbelNetwork", "ValueNetwork", "load", "save"]


class AgentNetwork(nn.Module):  # type: ignore[misc]
    """A network read from an agent's file; not made by users.

    Its parameters have the names and shapes of the file's tensors, and so has ``state_dict()``.

    Parameters
    ----------
    metadata : dict
        What the file says of its weights.
    """

    def __init__(self, metadata: dict[str, Any]) -> None:
        super().__init__()
        self.metadata = metadata

    @property
    def ruleset(self) -> Ruleset:
        """The rules that the file names: those it was trained on."""
        return Ruleset.from_dict(self.metadata["ruleset"])


class ValueNetwork(AgentNetwork):
    """The network of a value agent: expected seeds by sums over the pits.

    ======================  ===============================================
    parameter               shape
    ======================  ===============================================
    ``pits``                [2C * levels, U], a row for each pit and count
    ``bias``                [U]
    ``hidden``              [U, H]
    ``hidden_bias``         [H]
    ``out``                 [H, 1]
    ``out_bias``            [1]
    ======================  ===============================================

    Parameters
    ----------
    metadata : dict
        What the file says of its weights.
    tensors : dict of str to tensor
        The weights.
    """

    def __init__(self, metadata: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        super().__init__(metadata)
        self.levels = int(metadata["network"]["levels"])
        self.pit_count = 2 * int(metadata["network"]["columns"])
        add_weights(self, tensors)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Expect how many seeds the side to move still takes less those of the other side.

        Parameters
        ----------
        observations : integer or float [B, 2C+3] or [B, 2C]
            Observations of open games; what follows the pits does not count.

        Returns
        -------
        margins : float32 [B]
            In seeds. The value of a game that is over means nothing.

        Raises
        ------
        ArgumentValueError
            If they are of another size than the network.
        """
        check_shape(observations, self.pit_count)
        seeds = observations[:, : self.pit_count]
        levels = seeds.long().clamp(0, self.levels - 1)
        first = torch.arange(self.pit_count, device=levels.device) * self.levels
        sums = nn.functional.embedding_bag(levels + first, self.pits, mode="sum")
        hidden = ((sums + self.bias).clamp(0, 1) @ self.hidden + self.hidden_bias).relu()
        out = (hidden @ self.out + self.out_bias).squeeze(1)
        return out * margin_unit(seeds.to(out.dtype))


class GumbelHeads(NamedTuple):
    """What the network of a Gumbel agent says of a batch.

    Attributes
    ----------
    logits : float32 [B, C]
        How much it likes each column, before the softmax. Hide illegal ones first.
    outcomes : float32 [B, 3]
        Win, draw and loss of the side to move, before the softmax.
    margins : float32 [B]
        Expected seeds that the side to move still takes less those of the other side; players
        limit it to the seeds on the board.
    """

    logits: torch.Tensor
    outcomes: torch.Tensor
    margins: torch.Tensor


class GumbelNetwork(AgentNetwork):
    """The network of a Gumbel agent: policy, outcome and margin, on boards of any size.

    The network does not see the pits alone: what every sowing would do is worked out by the rules
    first, on the CPU and without a gradient (`encode`).

    Parameters
    ----------
    metadata : dict
        What the file says of its weights.
    tensors : dict of str to tensor
        The weights.
    """

    def __init__(self, metadata: dict[str, Any], tensors: dict[str, torch.Tensor]) -> None:
        super().__init__(metadata)
        self.blocks = int(metadata["network"]["blocks"])
        add_weights(self, tensors)

    def encode(
        self, observations: torch.Tensor, ruleset: Ruleset | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Work out what the network sees of positions.

        Parameters
        ----------
        observations : integer [B, 2C+3]
        ruleset : Ruleset, optional
            The rules of the games; by default those of the network.

        Returns
        -------
        pits : float32 [B, 2C, F]
        board : float32 [B, G]
            On the device of the weights.

        Raises
        ------
        PolicyError
            If an observation is no position of these rules.
        """
        views = observations.detach().cpu().numpy().astype(np.int16, copy=False)
        device = self.stem.taps.device
        features = agent_features(views, self.ruleset if ruleset is None else ruleset)
        pits, board = (torch.from_numpy(part).to(device) for part in features)
        return pits, board

    def forward(self, observations: torch.Tensor, ruleset: Ruleset | None = None) -> GumbelHeads:
        """Say what is to be played and how the games end.

        Parameters
        ----------
        observations : integer [B, 2C+3]
            Observations of open games.
        ruleset : Ruleset, optional
            The rules of the games; by default those of the network.

        Returns
        -------
        heads : GumbelHeads

        Raises
        ------
        PolicyError
            If an observation is no position of these rules.
        """
        pits, board = self.encode(observations, ruleset)
        seeds = observations[:, : pits.shape[1]].to(pits)
        return self.heads(pits, board, seeds)

    def heads(self, pits: torch.Tensor, board: torch.Tensor, seeds: torch.Tensor) -> GumbelHeads:
        """Take what `encode` gives through the network, as often as wanted.

        Parameters
        ----------
        pits : float32 [B, 2C, F]
        board : float32 [B, G]
        seeds : float32 [B, 2C]
            Seeds of the pits, for the unit of the margin.

        Returns
        -------
        heads : GumbelHeads
        """
        x = layer(gather(pits) @ self.stem.taps, board @ self.stem.globals, self.stem.bias)
        for number in range(self.blocks):
            block = self.get_submodule(f"block{number}")
            h = layer(gather(x) @ block.taps, pool(x) @ block.pool, block.bias)
            x = x + h @ block.out + block.out_bias
        pooled, columns = pool(x), pits.shape[1] // 2
        policy, value = self.policy, self.value
        hidden = layer(x[:, :columns] @ policy.pit, pooled @ policy.pool, policy.bias)
        logits = (hidden @ policy.out + pits[:, :columns] @ policy.features).squeeze(2)
        hidden = (pooled @ value.pool + board @ value.globals + value.bias).relu()
        values = hidden @ value.out + value.out_bias
        return GumbelHeads(logits, values[:, :3], values[:, 3] * margin_unit(seeds))


def load(path: str | os.PathLike[str]) -> ValueNetwork | GumbelNetwork:
    """Load an agent's network as a module of PyTorch, on the CPU.

    Parameters
    ----------
    path : path
        An agent file, the folder of a training run, or the name of a shipped agent, as
        `Agent.load` takes it.

    Returns
    -------
    network : ValueNetwork or GumbelNetwork
        Of the agent's learner.

    Raises
    ------
    AgentError
        If the file cannot be used; the message says why.
    """
    text, arrays = read_agent(path)
    metadata = json.loads(text)
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    kind = ValueNetwork if metadata["learner"] == "value" else GumbelNetwork
    return kind(metadata, tensors)


def save(
    network: ValueNetwork | GumbelNetwork,
    path: str | os.PathLike[str],
    *,
    ruleset: Ruleset | None = None,
) -> None:
    """Write a network as an agent's file, as a whole or not at all.

    Parameters
    ----------
    network : ValueNetwork or GumbelNetwork
        What `load` gave, trained on or not.
    path : path
        The file; an older one is replaced.
    ruleset : Ruleset, optional
        The rules that the agent is for now; by default those the file named that it came from.

    Raises
    ------
    AgentError
        If a weight is not finite or too large, the rules are of another size than a value network,
        or the file cannot be written; an older file stays.
    """
    if not isinstance(network, (ValueNetwork, GumbelNetwork)):
        raise ArgumentTypeError(
            f"network is a {type(network).__name__}, expected what endodoi.torch.load gave",
            field="network",
            value=network,
        )
    metadata = dict(network.metadata)
    if ruleset is not None:
        metadata["ruleset"] = ruleset.to_dict()
    tensors = {
        name: weights.detach().to("cpu", torch.float32).numpy()
        for name, weights in network.named_parameters()
    }
    write_agent(path, json.dumps(metadata), tensors)


def add_weights(module: nn.Module, tensors: dict[str, torch.Tensor]) -> None:
    """Give a module the weights as parameters, those with a dot in their name in parts of it."""
    for name, weights in tensors.items():
        owner, _, last = name.rpartition(".")
        if owner and owner not in dict(module.named_children()):
            module.add_module(owner, nn.Module())
        module.get_submodule(owner).register_parameter(last, nn.Parameter(weights))


def check_shape(observations: torch.Tensor, pits: int) -> None:
    """Refuse observations of another size than a network's.

    Raises
    ------
    ArgumentValueError
        If their shape is neither [B, 2C+3] nor [B, 2C].
    """
    shape = tuple(observations.shape)
    if len(shape) != 2 or shape[1] not in (pits, pits + 3):  # noqa: PLR2004
        raise ArgumentValueError(
            f"observations has shape {shape}, expected [B, {pits + 3}] or [B, {pits}]",
            field="observations",
            value=shape,
        )


def margin_unit(seeds: torch.Tensor) -> torch.Tensor:
    """Return the seeds that one unit of the margin stands for, [B], from those of the pits."""
    return 2 * seeds.sum(1).clamp(min=1).sqrt()


def gather(x: torch.Tensor) -> torch.Tensor:
    """Join what is kept at each pit's neighbours and at the pits opposite to them, [B, N, 6W]."""
    boards, pits, _ = x.shape
    neighbours = [[(pit - 1) % pits, pit, (pit + 1) % pits] for pit in range(pits)]
    taps = [place for three in neighbours for tap in three for place in (tap, pits - 1 - tap)]
    return x[:, torch.tensor(taps, device=x.device)].reshape(boards, pits, -1)


def layer(pits: torch.Tensor, board: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """Add what comes from the pits, [B, N, W], and from the board, [B, W], and rectify it."""
    return (pits + (board + bias).unsqueeze(1)).relu()


def pool(x: torch.Tensor) -> torch.Tensor:
    """Pool mean and maximum of the mover's row and of the other row, [B, 4W]."""
    boards, pits, width = x.shape
    rows = x.reshape(boards, 2, pits // 2, width)
    return torch.stack([rows.mean(2), rows.amax(2)], 2).reshape(boards, 4 * width)

"""The block: embedded clauses, attention of the answers, a feed-forward part, and a read-out for each slot.

What is left out changes nothing: queries of clauses that are no answers predict nothing that a loss or a measure asks
for, and in one layer nothing else depends on them.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812  # as PyTorch's own documentation calls it
from jaxtyping import Float, Int64
from torch import Tensor

from firstlight.tracking.language.tokens import Tokens
from firstlight.tracking.practical import positions
from firstlight.tracking.practical.matmul import linear
from firstlight.tracking.practical.parameters import Parameters
from firstlight.tracking.practical.read_out import read_out_loss
from firstlight.tracking.practical.settings import Settings

EPS = 1e-5  # of the layer norms


@dataclass(frozen=True, eq=False)
class Entry:
    """What clauses give to the block.

    Attributes:
        stream: the answers' embeddings, to which the parts of the block add.
        queries: of the answers, already divided by the root of a head's width.
        keys: of all clauses.
        values: of all clauses.
    """

    stream: Float[Tensor, "sentence answer channel"]
    queries: Float[Tensor, "sentence head answer channel"]
    keys: Float[Tensor, "sentence head clause channel"]
    values: Float[Tensor, "sentence head clause channel"]


@dataclass(frozen=True, eq=False)
class Block:
    """The model with its weights.

    Attributes:
        settings: of the model.
        tokens: the vocabulary.
        parameters: the weights by name.
    """

    settings: Settings
    tokens: Tokens
    parameters: Parameters

    def logits(
        self, predicates: Int64[Tensor, "sentence predicate slot"], answers: Int64[Tensor, "sentence answer slot"]
    ) -> Float[Tensor, "sentence answer read token"]:
        """Return the logits of the answer after each of the given ones, for each slot that is read out."""
        return self.read_out(self.state(predicates, answers))

    def loss(
        self, predicates: Int64[Tensor, "sentence predicate slot"], answers: Int64[Tensor, "sentence place slot"]
    ) -> tuple[Float[Tensor, ""], Float[Tensor, " read"]]:
        """Return the next-clause loss of answers 1.., a mean over them, and the mean cross-entropy of each slot."""
        state = self.state(predicates, answers[:, :-1])
        targets = torch.stack([answers[:, 1:, slot] for slot in self.settings.read_out_slots], -1).flatten(0, 1)
        scale = state.new_tensor([w for w in self.settings.slot_weights if w]) / len(targets)
        weight, bias = self.parameters["read_out"], self.parameters["read_out.bias"]
        loss, by_slot = read_out_loss(self.norm("read_out", state).flatten(0, 1), weight, bias, targets, scale)
        return loss, by_slot / len(targets)

    def state(
        self, predicates: Int64[Tensor, "sentence predicate slot"], answers: Int64[Tensor, "sentence answer slot"]
    ) -> Float[Tensor, "sentence answer channel"]:
        """Return what the block makes of each answer."""
        entry = self.enter(predicates, answers)
        return self.respond(entry.stream, self.attend(entry.values, self.look(entry.queries, entry.keys)))

    def enter(
        self, predicates: Int64[Tensor, "sentence predicate slot"], answers: Int64[Tensor, "sentence answer slot"]
    ) -> Entry:
        """Embed all clauses, and return what they give to the block."""
        first = predicates.shape[1]
        embedded = self.embedded(torch.cat([predicates, answers], 1), self.embedding(), 0)
        if self.settings.convolution:
            embedded = embedded + self.convolved(embedded, embedded.shape[1])
        queries, keys, values = self.project(embedded).chunk(3, -1)
        return self.split(embedded[:, first:], queries[:, first:], keys, values)

    def embedding(self) -> Float[Tensor, "token number"]:
        """Return the embeddings of all tokens: that of blank is zero."""
        learned = self.parameters["embedding"]
        return torch.cat([learned, learned.new_zeros(1, learned.shape[1])])

    def embedded(
        self, clauses: Int64[Tensor, "sentence clause slot"], embedding: Float[Tensor, "token number"], position: int
    ) -> Float[Tensor, "sentence clause channel"]:
        """Return the slots' embeddings side by side, with what is added at positions from the given one on."""
        embedded = F.embedding(clauses, embedding, padding_idx=self.tokens.blank).flatten(2)
        learned = self.parameters.get("positions")
        added = positions.absolute(self.settings, learned, position + clauses.shape[1], embedded)
        return embedded if added is None else embedded + added[position:]

    def convolved(
        self, embedded: Float[Tensor, "sentence clause channel"], last: int
    ) -> Float[Tensor, "sentence last channel"]:
        """Return what the convolution adds to the last clauses: of each channel, its own latest values weighted."""
        kernel = self.parameters["convolution"]
        missing = len(kernel) - 1 - (embedded.shape[1] - last)
        padded = F.pad(embedded, (0, 0, max(0, missing), 0))[:, -(last + len(kernel) - 1) :]
        # The first weight is that of the clause itself, the next that of the one before it.
        lags = (padded[:, len(kernel) - 1 - lag :][:, :last] * weights for lag, weights in enumerate(kernel))
        return torch.stack(list(lags)).sum(0)

    def project(self, embedded: Float[Tensor, "sentence clause channel"]) -> Float[Tensor, "sentence clause output"]:
        """Return queries, keys and values of clauses, side by side."""
        return linear(self.norm("attention", embedded), self.parameters["attention.query_key_value"])

    def split(self, stream: Tensor, queries: Tensor, keys: Tensor, values: Tensor, position: int = 0) -> Entry:
        """Split into heads; the first key stands at a position, the queries are those of the last clauses."""
        queries, keys, values = (
            each.reshape(*each.shape[:2], self.settings.heads, -1).transpose(1, 2) for each in (queries, keys, values)
        )
        queries = queries / math.sqrt(queries.shape[-1])
        if self.settings.positions == "rope":
            at = torch.arange(position, position + keys.shape[2], device=keys.device)
            queries, keys = positions.rotate(queries, at[-queries.shape[2] :]), positions.rotate(keys, at)
        return Entry(stream, queries, keys, values)

    def look(
        self,
        queries: Float[Tensor, "sentence head answer channel"],
        keys: Float[Tensor, "sentence head clause channel"],
    ) -> Float[Tensor, "sentence head answer clause"]:
        """Return the attention of the last clauses: on all clauses up to themselves."""
        scores = queries @ keys.transpose(2, 3)
        answers, clauses = scores.shape[2:]
        if self.settings.positions == "alibi":
            at = torch.arange(clauses, device=scores.device)
            scores = scores + positions.distance_bias(self.settings.heads, at[clauses - answers :], at, scores)
        if answers > 1:
            later = scores.new_ones(answers, clauses, dtype=torch.bool).triu(clauses - answers + 1)
            scores = scores.masked_fill(later, -math.inf)
        return scores.softmax(-1)

    def attend(
        self,
        values: Float[Tensor, "sentence head clause channel"],
        attention: Float[Tensor, "sentence head answer clause"],
    ) -> Float[Tensor, "sentence answer channel"]:
        """Return what the attention brings to each answer."""
        brought = (attention @ values).transpose(1, 2).flatten(2)
        return linear(brought, self.parameters["attention.output"])

    def respond(
        self, stream: Float[Tensor, "sentence answer channel"], brought: Float[Tensor, "sentence answer channel"]
    ) -> Float[Tensor, "sentence answer channel"]:
        """Return the state after the feed-forward part."""
        weights, residual = self.parameters, self.settings.residual
        state = stream + brought if residual else brought
        read = self.norm("feed_forward", state)
        hidden = linear(read, weights["feed_forward.hidden"], weights["feed_forward.hidden.bias"]).relu()
        written = linear(hidden, weights["feed_forward.output"], weights["feed_forward.output.bias"])
        return state + written if residual else written

    def read_out(self, state: Float[Tensor, "sentence answer channel"]) -> Float[Tensor, "sentence answer read token"]:
        """Return the logits of each slot that is read out."""
        logits = linear(self.norm("read_out", state), self.parameters["read_out"], self.parameters["read_out.bias"])
        return logits.view(*logits.shape[:-1], -1, self.tokens.size)

    def norm(self, name: str, state: Tensor) -> Tensor:
        """Return the layer norm before a part, if there is one."""
        if not self.settings.layer_norm:
            return state
        scale, shift = self.parameters[f"{name}.norm.scale"], self.parameters[f"{name}.norm.shift"]
        return F.layer_norm(state, scale.shape, scale, shift, EPS)

"""Writing answers greedily, each read back, with the keys and values of all clauses before kept."""

import torch
from jaxtyping import Int64
from torch import Tensor

from firstlight.tracking.language.tokens import SLOTS
from firstlight.tracking.practical.block import Block


@torch.no_grad()
def generate(
    block: Block,
    predicates: Int64[Tensor, "sentence predicate slot"],
    first: Int64[Tensor, "sentence slot"],
    count: int,
) -> Int64[Tensor, "sentence answer slot"]:
    """Return so many answers after the first, with whatever tokens are likeliest in each slot.

    An answer costs one query against the keys kept, so its cost is linear in the number of clauses before it.
    """
    reach = block.settings.convolution
    embedding = block.embedding()
    known, latest = predicates.shape[1] + 1, first[:, None]
    entry = block.enter(predicates, latest)
    before = block.embedded(torch.cat([predicates, latest], 1), embedding, 0) if reach else None
    shape = (*entry.keys.shape[:2], known + count - 1, entry.keys.shape[3])
    keys, values = entry.keys.new_empty(shape), entry.values.new_empty(shape)
    keys[:, :, :known], values[:, :, :known] = entry.keys, entry.values
    answers = torch.full((len(first), count, SLOTS), block.tokens.blank, device=first.device)
    slots = list(block.settings.read_out_slots)
    for step in range(count):
        brought = block.attend(values[:, :, :known], block.look(entry.queries, keys[:, :, :known]))
        answers[:, step, slots] = block.read_out(block.respond(entry.stream, brought))[:, 0].argmax(-1)
        if step == count - 1:
            break
        stream = block.embedded(answers[:, step : step + 1], embedding, known)
        if before is not None:
            before = torch.cat([before, stream], 1)[:, -reach:]
            stream = stream + block.convolved(before, 1)
        query, key, value = block.project(stream).chunk(3, -1)
        entry = block.split(stream, query, key, value, position=known)
        keys[:, :, known : known + 1], values[:, :, known : known + 1] = entry.keys, entry.values
        known += 1
    return answers

"""The translation model: its fast paths give what the slow ones give."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import torch
from torch import Tensor

from experiments.translation.attention import attentive_lstm, attentive_lstm_plain
from experiments.translation.batches import Sentence, make_batch, padded, shuffled_rows
from experiments.translation.decoding import LENGTH_FACTOR, LENGTH_MARGIN, beam_search, translate
from experiments.translation.losses import summed_cross_entropy, summed_cross_entropy_plain
from experiments.translation.model import Translator, dense_embedding
from experiments.translation.precision import check_precision
from experiments.translation.segmenting import END, PAD, START
from lexicode import SettingError

ROWS, UNITS = 30, 6

Array = npt.NDArray[np.float64]


@pytest.fixture
def model() -> Translator:
    """Of random values, large enough that attention and states matter"""
    torch.manual_seed(3)
    made = Translator(dense_embedding(ROWS, UNITS), dense_embedding(ROWS, UNITS), ROWS, UNITS).double()
    with torch.no_grad():
        for value in made.parameters():
            value.uniform_(-0.7, 0.7)
        # Sentences are to end now and then.
        made.head.bias[END] += 2
    return made.eval()


def sentences(lengths: list[int], seed: int) -> list[Sentence]:
    rng = np.random.default_rng(seed)
    return [np.append(rng.integers(4, ROWS, size=length - 1), END) for length in lengths]


@pytest.mark.parametrize("hidden_pieces", [0, 2])
def test_written_out_gradients_equal_autograds(hidden_pieces: int) -> None:
    generator = torch.Generator().manual_seed(1)
    batch_sizes = [5, 5, 4, 2, 1]
    total, B, S, u, v = sum(batch_sizes), 5, 6, 3, 4
    shapes = [(total, u), (total, 4 * u), (B, S, u), (B, S, v), (B, u), (4 * u, v + u)]
    given = [torch.randn(shape, generator=generator, dtype=torch.float64).requires_grad_() for shape in shapes]
    feedback, gates, keys, values, state, weight = given
    mask = None
    if hidden_pieces:
        mask = torch.zeros(B, S, dtype=torch.float64)
        mask[2, -hidden_pieces:] = float("-inf")
    outcomes = []
    for lstm in (attentive_lstm, attentive_lstm_plain):
        hidden = lstm(feedback, gates, batch_sizes, keys, values, mask, state, weight)
        weights = torch.linspace(-1, 1, hidden.numel(), dtype=torch.float64).view_as(hidden)
        outcomes.append([hidden, *torch.autograd.grad((hidden * weights).sum(), given)])
    for fast, slow in zip(*outcomes, strict=True):
        torch.testing.assert_close(fast, slow, rtol=0, atol=1e-12)


def scores_by_steps(model: Translator, source: Sentence, target: Sentence) -> Tensor:
    """One sentence alone, one step after the other: (len(target), ROWS)"""
    memory = model.read(*padded([source]))
    state, rows = model.decoder.begin(memory), []
    for piece in [START, *target[:-1].tolist()]:
        states, state = model.decoder.step(model.target_embedding(torch.tensor([piece])), state, memory)
        rows.append(model.score(states))
    return torch.cat(rows)


@torch.no_grad()
@pytest.mark.parametrize("lengths", [[4, 4, 4], [3, 7, 5]], ids=["equal", "padded"])
def test_a_batch_scores_as_its_sentences_do_alone(model: Translator, lengths: list[int]) -> None:
    sources, targets = sentences(lengths, seed=0), sentences([2, 6, 4], seed=1)
    batch = make_batch(sources, targets)
    scores = model(batch.source, batch.lengths, batch.feedback, batch.batch_sizes)
    longest_first = [1, 2, 0]
    alone = [scores_by_steps(model, sources[row], targets[row]) for row in longest_first]
    packed = torch.cat([torch.stack([each[t] for each in alone if t < len(each)]) for t in range(6)])
    torch.testing.assert_close(scores, packed, rtol=0, atol=1e-12)
    found = torch.cat(
        [torch.tensor([targets[row][t] for row in longest_first if t < len(targets[row])]) for t in range(6)]
    )
    assert torch.equal(batch.target, found)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm_by_hand(gates: Array, cell: Array) -> tuple[Array, Array]:
    """gates in torch's order: input, forget, candidate, output"""
    inner, forget, candidate, outer = np.split(gates, 4)
    cell = sigmoid(forget) * cell + sigmoid(inner) * np.tanh(candidate)
    return sigmoid(outer) * np.tanh(cell), cell


@torch.no_grad()
def test_two_steps_by_the_papers_formulas(model: Translator) -> None:
    """One sentence through the decoder, in numpy: what the paper says of attention, residual and readout"""
    source, target = sentences([4], seed=2)[0], sentences([3], seed=3)[0]
    memory = model.read(*padded([source]))
    keys, values = memory.keys[0].numpy(), memory.values[0].numpy()
    of = {name: value.numpy() for name, value in model.named_parameters()}
    np.testing.assert_allclose(keys, values @ of["decoder.keys.weight"].T + of["decoder.keys.bias"], atol=1e-12)
    hidden, cell = memory.state[0].numpy(), np.zeros(UNITS)
    hidden_2, cell_2 = hidden, cell
    for step, piece in enumerate([START, int(target[0])]):
        feedback = of["target_embedding.weight"][piece]
        weights = np.exp(keys @ (feedback + hidden))
        context = weights / weights.sum() @ values
        gates = of["decoder.feedback_gates.weight"] @ feedback + of["decoder.feedback_gates.bias"]
        hidden, cell = lstm_by_hand(gates + of["decoder.mixed_gates.weight"] @ np.append(context, hidden), cell)
        gates = sum(
            of[f"decoder.second.weight_{part}_l0"] @ given + of[f"decoder.second.bias_{part}_l0"]
            for part, given in (("ih", hidden), ("hh", hidden_2))
        )
        hidden_2, cell_2 = lstm_by_hand(gates, cell_2)
        readout = of["readout.weight"] @ (np.sqrt(1 / 2) * (hidden + hidden_2)) + of["readout.bias"]
        expected = of["head.weight"] @ readout + of["head.bias"]
        np.testing.assert_allclose(scores_by_steps(model, source, target)[step].numpy(), expected, atol=1e-12)


def test_a_fifth_is_dropped(model: Translator) -> None:
    torch.manual_seed(0)
    model.train()
    seen: list[Tensor] = []
    model.head.register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    batch = make_batch(sentences([5] * 40, seed=0), sentences([4] * 40, seed=1))
    model(batch.source, batch.lengths, batch.feedback, batch.batch_sizes)
    # 96,000 values: the share of zeros is within six standard deviations of a fifth.
    assert seen[0].eq(0).double().mean().item() == pytest.approx(0.2, abs=0.008)


def test_dropout_acts_in_training_alone(model: Translator) -> None:
    batch = make_batch(sentences([5, 5], seed=0), sentences([4, 3], seed=1))
    given = (batch.source, batch.lengths, batch.feedback, batch.batch_sizes)
    with torch.no_grad():
        assert torch.equal(model(*given), model(*given))
        model.train()
        assert not torch.equal(model(*given), model(*given))


def test_the_papers_sizes() -> None:
    made = Translator(dense_embedding(50, 256), dense_embedding(70, 256), 70, 256)
    shapes = {name: tuple(value.shape) for name, value in made.named_parameters()}
    assert shapes["encoder.first.weight_ih_l0_reverse"] == (4 * 256, 256)
    assert shapes["encoder.second.weight_hh_l0"] == (4 * 256, 256)
    assert shapes["decoder.keys.weight"] == (256, 512)
    assert shapes["decoder.second.weight_ih_l0"] == (4 * 256, 256)
    assert shapes["readout.weight"] == (600, 256)
    assert shapes["head.weight"] == (70, 600)


def test_an_epoch_holds_every_pair_once_and_hardly_any_padding() -> None:
    rng = np.random.default_rng(0)
    lengths = rng.integers(3, 12, size=2000)
    sources = sentences(lengths.tolist(), seed=1)
    targets = sentences((lengths + rng.integers(0, 3, size=2000)).tolist(), seed=2)
    batches = shuffled_rows(sources, targets, 32, np.random.default_rng(5))
    assert sorted(np.concatenate(batches).tolist()) == list(range(2000))
    assert max(map(len, batches)) == 32
    computed = sum(len(rows) * max(len(sources[row]) for row in rows) for rows in batches)
    assert computed < 1.02 * lengths.sum()
    again = shuffled_rows(sources, targets, 32, np.random.default_rng(6))
    assert [rows.tolist() for rows in again] != [rows.tolist() for rows in batches]


@torch.no_grad()
def greedy(model: Translator, source: Sentence) -> list[int]:
    """One sentence, always the likeliest piece"""
    memory = model.read(*padded([source]))
    state, pieces = model.decoder.begin(memory), [START]
    for _ in range(LENGTH_FACTOR * len(source) + LENGTH_MARGIN):
        states, state = model.decoder.step(model.target_embedding(torch.tensor(pieces[-1:])), state, memory)
        scores = model.score(states)[0]
        scores[[PAD, START]] = float("-inf")
        pieces.append(int(scores.argmax()))
        if pieces[-1] == END:
            return pieces[1:-1]
    return pieces[1:]


def test_a_beam_of_one_is_greedy(model: Translator) -> None:
    sources = sentences([3, 5, 5, 8, 2], seed=4)
    assert translate(model, sources, size=1) == [greedy(model, source) for source in sources]


def test_sentences_do_not_mind_their_neighbours(model: Translator) -> None:
    sources = sentences([3, 9, 5, 6], seed=5)
    together = beam_search(model, *padded(sources), 4)
    assert together == [beam_search(model, *padded([source]), 4)[0] for source in sources]
    # Some end by themselves, and at different steps.
    assert len({len(rows) for rows in together}) > 1


def test_the_beams_choice_worked_out_by_hand(model: Translator) -> None:
    """Pieces that follow whatever was before: A with probability 0.6, END with 0.3, the others share the rest.

    Greedy never ends. A beam of five finds A^n END for n = 0 to 4 first; the mean log-probability grows with n.
    """
    A = 7
    with torch.no_grad():
        for value in model.parameters():
            value.zero_()
        probabilities = torch.full((ROWS,), 0.1 / (ROWS - 2), dtype=torch.float64)
        probabilities[A], probabilities[END] = 0.6, 0.3
        model.head.bias.copy_(probabilities.log())
    source = padded(sentences([3], seed=0))
    assert beam_search(model, *source, 5) == [[A] * 4]
    assert beam_search(model, *source, 1) == [[A] * (LENGTH_FACTOR * 3 + LENGTH_MARGIN)]


@pytest.mark.parametrize("precision", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("transposed", [False, True])
def test_losses_in_one_pass_equal_torchs(precision: torch.dtype, transposed: bool) -> None:
    """More rows than a block has, and a score that is hopeless"""
    scores = (3 * torch.randn(70, ROWS, generator=torch.Generator().manual_seed(1))).to(precision)
    if transposed:
        # As a coded softmax has them
        scores = scores.T.contiguous().T
    target = torch.arange(70) % ROWS
    scores[5, 5] = -200
    outcomes = []
    for loss_of in (summed_cross_entropy, summed_cross_entropy_plain):
        given = scores.clone().requires_grad_()
        loss = loss_of(given, target)
        outcomes.append([loss, *torch.autograd.grad(loss / 7, [given])])
    for fast, slow in zip(*outcomes, strict=True):
        torch.testing.assert_close(fast, slow)


@pytest.mark.parametrize("lengths", [[6] * 8, [6, 5, 6, 4, 6, 6, 5, 6]], ids=["equal", "padded"])
def test_gradients_in_bfloat16_point_where_those_in_float32_do(lengths: list[int]) -> None:
    try:
        check_precision("bfloat16")
    except SettingError as error:
        pytest.skip(str(error))
    torch.manual_seed(3)
    model = Translator(dense_embedding(ROWS, 32), dense_embedding(ROWS, 32), ROWS, 32).eval()
    batch = make_batch(sentences(lengths, seed=0), sentences([5, 7, 6, 8, 3, 5, 6, 7], seed=1))
    found = []
    for enabled in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            scores = model(batch.source, batch.lengths, batch.feedback, batch.batch_sizes)
        loss = summed_cross_entropy(scores, batch.target)
        found.append((scores.dtype, loss, torch.autograd.grad(loss, list(model.parameters()))))
    (exact_type, exact_loss, exact), (rough_type, rough_loss, rough) = found
    assert (exact_type, rough_type) == (torch.float32, torch.bfloat16)
    assert {gradient.dtype for gradient in rough} == {torch.float32}
    torch.testing.assert_close(rough_loss, exact_loss, rtol=0.01, atol=0)
    # The bias of the keys moves all of a sentence's scores alike: its gradient is nothing but rounding.
    whole = torch.cat([gradient.flatten() for gradient in exact]).norm()
    for one, other in zip(rough, exact, strict=True):
        assert (one - other).norm() < 0.05 * other.norm() + 1e-4 * whole

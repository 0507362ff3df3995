"""GumbelLearner: the paper's network (Shu and Nakayama 2018, sections 4 and 5.1), faithful in its defaults.

An auto-encoder with a Gumbel-softmax in its middle learns codes and codebooks together by gradient descent. It is
slower and less exact than the additive learner, but it takes any differentiable loss.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch

from lexicode.coded import CodedEmbedding
from lexicode.composition import compose
from lexicode.errors import LearningError, SettingError
from lexicode.learners.checkpoint import Checkpoint
from lexicode.learners.gumbel_batches import Batches
from lexicode.learners.gumbel_network import GumbelNetwork
from lexicode.learners.gumbel_settings import GumbelSettings
from lexicode.learners.gumbel_supply import BroughtRows, OwnRows, Supply
from lexicode.learners.gumbel_validation import Validation, Validator
from lexicode.learners.keeping import with_exact_rows
from lexicode.learners.learner import check_range, origin, stored
from lexicode.learners.progress import OnProgress, Progress
from lexicode.learners.team import ALONE, Team
from lexicode.learners.weights import row_weights
from lexicode.packing import pack
from lexicode.scheme import CodeScheme
from lexicode.vectors import Vectors

if TYPE_CHECKING:
    from lexicode.learners.additive import AdditiveLearner

# A loss this many times that of the untrained network will not come back.
DIVERGED = 10.0
ENCODED_AT_ONCE = 8192


class GumbelLearner:
    """GumbelLearner(scheme, iterations=200_000, seed=0).fit(vectors) -> CodedEmbedding

    Same vectors, settings, seed and threads on the same machine: same bytes. `curve` holds a Validation for every
    time the codes were judged, the first of them before any training; in a team of one machine only the first process
    trains, judges and reports.
    """

    name: ClassVar[str] = "gumbel"

    def __init__(self, scheme: CodeScheme | str, **settings: Any) -> None:
        self.scheme = CodeScheme.of(scheme)
        self.settings = GumbelSettings(**settings)
        # Now, so that what it refuses is known before the network has trained for hours.
        self._refiner = self._make_refiner() if self.settings.refine else None
        self.curve: list[Validation] = []
        self.loss = float("nan")

    def fit(self, vectors: Vectors, on_progress: OnProgress | None = None, *, team: Team = ALONE) -> CodedEmbedding:
        """Learn codebooks and codes for every row of `vectors`, in a team: of this process's rows."""
        self.curve = []
        check_range(vectors, self.settings.codebook_dtype, team)
        report = on_progress or (lambda progress: None)
        network = self._network(vectors, report, team)
        with training_threads(self.settings.threads_in(team)):
            coded = self._encode_all(network, vectors, team)
        if self._refiner is not None:
            coded = self._refined(self._refiner, coded, vectors, report, team)
        return with_exact_rows(coded, vectors, self.settings, weights=self.settings.weights, team=team)

    def _network(self, vectors: Vectors, report: OnProgress, team: Team) -> GumbelNetwork:
        """The trained network, the same in every process."""
        run = self.settings
        first_row, (total_rows,) = team.first_row(len(vectors)), team.total(len(vectors))
        weights = row_weights(run.weights, int(total_rows))[first_row : first_row + len(vectors)]
        on_one_machine = 1 < team.size == team.size_here and run.torch_device.type == "cpu"
        checkpoint = self._checkpoint(vectors, on_one_machine, team)
        if not on_one_machine:
            size = self._part_of_batch(team)
            # Each process counts as much as it has rows, however the table is shared out.
            scale, own_rows = len(vectors) / (total_rows * size), OwnRows(vectors, weights)
            return self._trained(vectors.dim, own_rows, size, scale, run.threads_in(team), checkpoint, report, team)
        all_rows = BroughtRows(team, vectors, weights, seed=run.seed, batch=run.batch_size)
        if team.leads:
            size, threads = run.batch_size, team.size * run.threads if run.threads else run.thread_count
            with all_rows:
                network = self._trained(vectors.dim, all_rows, size, 1 / size, threads, checkpoint, report, ALONE)
        else:
            network = self._fresh(vectors.dim, 1)
            all_rows.serve()
        team.agree(network.parameters.flat.numpy())
        return network

    def _part_of_batch(self, team: Team) -> int:
        """How many rows of each batch this process draws."""
        batch = self.settings.batch_size
        if batch < team.size:
            raise SettingError(f"{team.size} processes cannot share batches of {batch} rows; use fewer processes")
        return batch * (team.rank + 1) // team.size - batch * team.rank // team.size

    def _fresh(self, dim: int, size: int) -> GumbelNetwork:
        run = self.settings
        network = GumbelNetwork(self.scheme, dim, batch=size, temperature=run.temperature, device=run.torch_device)
        # The same in every process, so that the same summed gradients keep them the same.
        network.parameters.initialize(run.seed)
        return network

    def _trained(
        self,
        dim: int,
        supply: Supply,
        size: int,
        scale: float,
        threads: int,
        checkpoint: Checkpoint | None,
        report: OnProgress,
        team: Team,
    ) -> GumbelNetwork:
        """A network with the best parameters it had at any validation; each iteration is fed `size` rows of the supply,
        which count `scale` times their weights."""
        run, network = self.settings, self._fresh(dim, size)
        with training_threads(threads), ThreadPoolExecutor(threads) as pool:
            validator = self._validator(*supply.rows(0), team)
            best = self._resume(network, checkpoint, team)
            if best is None:
                best = self._judge(network, validator, 0, 0.0, network.parameters.flat.clone())
            batches = Batches(
                supply, size=size, scale=scale, width=self.scheme.basis_vectors, seed=[run.seed, 2, *team.stream],
                pool=pool, device=network.device,
            )  # fmt: skip
            good = _snapshot(network, best)
            while (iteration := network.steps_taken) < run.iterations:
                stop = min(iteration - iteration % run.validate_every + run.validate_every, run.iterations)
                began = time.perf_counter()
                for batch in batches.between(iteration, stop):
                    network.gradient_of(batch.rows, batch.inverse_noise, run.loss, batch.weights)
                    team.sum_tensor(network.gradient.flat)
                    if run.clip is not None:
                        _clip(network.gradient.flat, run.clip)
                    network.step(run.learning_rate)
                speed = (stop - iteration) / (time.perf_counter() - began)
                best = self._judge(network, validator, stop, speed, best)
                if self._diverged:
                    raise self._stopped(checkpoint, good, team)
                good = _snapshot(network, best)
                if checkpoint is not None and team.leads and (checkpoint.due or stop == run.iterations):
                    self._save(checkpoint, good)
                report(self._progress(stop))
        network.parameters.adopt(best)
        return network

    # ---- judging

    def _validator(self, vectors: Vectors, weights: npt.NDArray[np.float32], team: Team) -> Validator:
        rng = np.random.default_rng([self.settings.seed, 1, *team.stream])
        # Rows without weight would judge nothing.
        counted = np.flatnonzero(weights)
        wanted = min(len(counted), -(-self.settings.validation_rows // team.size))
        rows = np.sort(rng.choice(counted, size=wanted, replace=False)) if wanted else counted
        seed = [self.settings.seed, 3, *team.stream]
        return Validator(vectors.take(rows), weights[rows], self.settings.loss, seed, team)

    def _judge(
        self, network: GumbelNetwork, validator: Validator, iteration: int, speed: float, best: torch.Tensor
    ) -> torch.Tensor:
        """Add a point to the curve; the parameters of the lowest hard loss so far."""
        lowest = min((point.hard_loss for point in self.curve), default=float("inf"))
        self.curve.append(validator.measure(network, iteration, speed))
        return network.parameters.flat.clone() if self.curve[-1].hard_loss < lowest else best

    @property
    def _diverged(self) -> bool:
        first, last = self.curve[0], self.curve[-1]
        finite = np.isfinite(last.soft_loss) and np.isfinite(last.hard_loss)
        return not finite or last.soft_loss > DIVERGED * abs(first.soft_loss)

    def _progress(self, iteration: int) -> Progress:
        last = self.curve[-1]
        return Progress(
            stage="learning",
            step=iteration,
            steps=self.settings.iterations,
            loss=last.hard_loss,
            note=(
                f"soft {last.soft_loss:.4f}, p {last.maximum_probability:.2f}, dead {last.dead_codewords}, "
                f"{last.iterations_per_second:.0f} it/s"
            ),
        )

    # ---- going on

    def _checkpoint(self, vectors: Vectors, on_one_machine: bool, team: Team) -> Checkpoint | None:
        if self.settings.checkpoint is None:
            return None
        digests = "".join(team.tell_all(vectors.digest))
        identity = {
            "learner": self.name,
            "scheme": str(self.scheme),
            "vectors": hashlib.sha256(digests.encode()).hexdigest(),
            "processes": f"{team.size} of one machine" if on_one_machine else team.size,
            **self.settings.identity(),
        }
        return Checkpoint(self.settings.checkpoint, identity)

    def _save(self, checkpoint: Checkpoint, state: dict[str, torch.Tensor]) -> None:
        iteration = int(state["iteration"])
        curve = [point.as_dict() for point in self.curve if point.iteration <= iteration]
        record = {"iteration": iteration, "curve": curve}
        arrays = {name: tensor.cpu().numpy() for name, tensor in state.items() if name != "iteration"}
        checkpoint.save(record, arrays)

    def _resume(self, network: GumbelNetwork, checkpoint: Checkpoint | None, team: Team) -> torch.Tensor | None:
        """Put the network where the checkpoint was; the best parameters, or None if there is none. The leader alone
        reads the file, which others may not see."""
        loaded = checkpoint.load() if checkpoint is not None and team.leads else None
        record = team.say(None if loaded is None else loaded[0])
        if record is None:
            return None
        best = torch.empty_like(network.parameters.flat)
        for target, name in (
            (network.parameters.flat, "parameters"),
            (network.first_moment, "first_moment"),
            (network.second_moment, "second_moment"),
            (best, "best"),
        ):
            array = np.empty(len(target), dtype=np.float32) if loaded is None else loaded[1][name]
            team.agree(array)
            target.copy_(torch.from_numpy(array))
        network.steps_taken = record["iteration"]
        self.curve = [Validation(**point) for point in record["curve"]]
        return best

    def _stopped(self, checkpoint: Checkpoint | None, good: dict[str, torch.Tensor], team: Team) -> LearningError:
        """Why it cannot go on, with the last good state kept."""
        last, kept = self.curve[-1], "nothing was kept, for want of a checkpoint"
        if checkpoint is not None:
            kept = f"the state of iteration {int(good['iteration'])} is in {checkpoint.path}"
            if team.leads:
                self._save(checkpoint, good)
        return LearningError(
            f"the loss is {last.soft_loss:g} after {last.iteration} iterations and began at "
            f"{self.curve[0].soft_loss:g}: it diverges; {kept}; go on with a learning rate below "
            f"{self.settings.learning_rate:g}"
        )

    # ---- the codes

    def _encode_all(self, network: GumbelNetwork, vectors: Vectors, team: Team) -> CodedEmbedding:
        M, K = self.scheme.codebooks, self.scheme.codewords
        codewords = network.parameters.codewords.cpu().numpy()
        codebooks = np.ascontiguousarray(codewords.reshape(K, M, -1).transpose(1, 0, 2))
        shipped = stored(codebooks, self.settings.codebook_dtype)
        packed = np.empty((len(vectors), self.scheme.bytes_per_row), dtype=np.uint8)
        total = 0.0
        for start, block in vectors.blocks(ENCODED_AT_ONCE):
            # A copy, for a table that is mapped from a file cannot be written, and torch would warn of it.
            codes = network.encode(torch.from_numpy(block.copy()).to(network.device))
            packed[start : start + len(block)] = pack(codes, bits=self.scheme.bits)
            rows = compose(codes, shipped.astype(np.float32))
            total += float(np.square(block - rows, dtype=np.float64).sum())
        total, count = team.total(total, len(vectors))
        self.loss = total / count
        return CodedEmbedding(
            scheme=self.scheme,
            packed=packed,
            codebooks=shipped,
            words=vectors.words,
            origin=origin(self.name, self.settings.record(), vectors),
        )

    def _make_refiner(self) -> AdditiveLearner:
        from lexicode.learners.additive import AdditiveLearner

        own = self.settings
        return AdditiveLearner(
            self.scheme, seed=own.seed, codebook_dtype=own.codebook_dtype, threads=own.threads, loss=own.loss,
            weights=own.weights,
        )  # fmt: skip

    def _refined(
        self, additive: AdditiveLearner, coded: CodedEmbedding, vectors: Vectors, report: OnProgress, team: Team
    ) -> CodedEmbedding:
        """The additive learner's codes, set out from these; never further off where distance is what counts."""
        own = self.settings
        refined = additive.fit(vectors, report, start=coded, team=team)
        if own.loss == "squared" and own.weights is None and additive.loss >= self.loss:
            return coded
        self.loss = additive.loss
        refined.origin = coded.origin
        return refined


def _snapshot(network: GumbelNetwork, best: torch.Tensor) -> dict[str, torch.Tensor]:
    """A copy of all that training changes."""
    return {
        "parameters": network.parameters.flat.clone(),
        "first_moment": network.first_moment.clone(),
        "second_moment": network.second_moment.clone(),
        "best": best,
        "iteration": torch.tensor(network.steps_taken),
    }


def _clip(gradient: torch.Tensor, largest: float) -> None:
    """Shorten the gradient to `largest` where it is longer."""
    norm = float(gradient.norm())
    if norm > largest:
        gradient *= largest / norm


@contextmanager
def training_threads(threads: int) -> Iterator[None]:
    """torch on so many threads, and numbers below float32's normal range flushed to zero (they are many times slower,
    and Adam's moments decay into them); both as before when it ends."""
    before = torch.get_num_threads()
    flushed = bool(torch.tensor(1e-40) * 1 == 0)
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(flushed)
        torch.set_num_threads(before)

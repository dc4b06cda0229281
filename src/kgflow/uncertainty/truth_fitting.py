"""Fit the probability that triples are true to validation triples of a run."""

from kgflow.data import QueryIndex
from kgflow.evaluation import Scorer
from kgflow.models import Model
from kgflow.uncertainty.calibration import MIN_TRIPLES, Calibration
from kgflow.uncertainty.missing import MissingAnswers
from kgflow.uncertainty.removed import sample_triples
from kgflow.uncertainty.stiffness import choose_stiffness
from kgflow.uncertainty.truth import TruthModel
from kgflow.uncertainty.unlabelled import unlabelled_loss


def fit_truth(
    calibration: Calibration,
    model: Model,
    known: QueryIndex,
    removed: QueryIndex,
    k: float,
    seed: int = 0,
    left_out: QueryIndex | None = None,
) -> Calibration:
    """Add to a calibration the probability that triples are true, see `TruthModel`.

    Args:
        calibration: Calibration of the scores of the model.
        model: Model that scores.
        known: Queries of the known triples, without the removed ones.
        removed: Queries of validation triples, of which the model knows nothing.
        k: Number of removed triples per triple that the graph lacks.
        seed: Seed of the sample.
        left_out: Queries of triples that are true but neither known nor removed: the model shall
            learn nothing from them. If they were known, a query of which all answers were removed
            would have some of them.
    """
    triples = int(removed.counts.sum()) // 2
    if triples < MIN_TRIPLES or not k:
        return calibration
    scorer = Scorer(model, known)
    sample = sample_triples(scorer, removed, seed, left_out=left_out)
    evidence = calibration.evidence(scorer, sample.h, sample.r, sample.t)
    missing = MissingAnswers.fit(known, removed)
    given = evidence, sample.removed, sample.weight, k, missing
    query = sample.h * known.relations + sample.r
    stiffness, calibrator = choose_stiffness(*given, query, seed)
    truth = TruthModel.fit(*given, stiffness)
    odds = truth.log_odds(evidence)
    # The map comes from a part of the sample: it must hold on all of it.
    plain, mapped = (
        float(sample.weight @ unlabelled_loss(each, sample.removed, k))
        for each in (odds, calibrator(odds))
    )
    if mapped < plain:
        truth = truth.model_copy(update={"calibrator": calibrator})
    return calibration.model_copy(update={"truth": truth})

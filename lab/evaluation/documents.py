"""Suites for the quality of detection: the detector and the baselines on the same splits.

Each suite takes a `Setting` and returns a `Table`. All methods are trained on known documents only.
Where a threshold is needed, all methods set it by the same held-back documents. The C of logistic
regression and of LinearSVC is chosen by 3-fold cross-validation on the training side.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab.datasets import load_20newsgroups, load_bbcsport, load_clinc150
from lab.datasets.corpus import LabelledDocuments
from lab.evaluation.deletion import deletion
from lab.evaluation.document_baselines import DOCUMENT_BASELINES, DocumentBaselines
from lab.evaluation.groups import groups
from lab.evaluation.holdout import folds
from lab.evaluation.meaning import Case, encoder_folders, measure_encoder
from lab.evaluation.noise import ALPHAS, REPEATS, noise_rows, repeat_rates
from lab.evaluation.reasons import explained_requests
from lab.evaluation.sentences import (
    MOST_LEARNED,
    clinc150_planted,
    measure_planted,
    newsgroups_planted,
    sentences_in,
)
from lab.evaluation.suites import SuiteSetting, Values, add_value, means
from lab.evaluation.unseen_intents import PUBLISHED, SHARES, draw_intents, open_scores
from lab.tables import table_of
from newfound.detection.calibration import PARTS, Calibration
from newfound.detection.detector import NOVEL, NoveltyDetector
from newfound.detection.encoder_shelf import load_encoder
from newfound.table import Table

__all__ = ["SUITES", "Setting"]

OURS = "newfound"
ALPHA = 0.05
PAPER_KNOWN, PAPER_NOVEL = ("comp.graphics", "talk.politics.guns"), "rec.sport.baseball"
N_KNOWN_GROUPS = 5
UNSEEN_DRAWS = 10
REASON_DRAWS = 3
SENTENCE_DRAWS, FIRST_PLANTED = 3, 200
OPEN_ALPHAS = (0.05, 0.1, 0.15)
BBC_SEEDS = 3
N_GROUPS_WITH_MEANING = 6
N_DELETION_TEXTS = 300
N_REPEATED = 2000
FALSE_ALARM_SIZES = {"CLINC150": (3000, 2000), "BBC Sport": (550, 187)}  # known, new


@dataclass(frozen=True)
class Setting(SuiteSetting):
    """The setting of the suites.

    Attributes
    ----------
    splits : int
        The number of splits to count false alarms on.
    baselines : bool
        Whether the baselines are measured beside the detector.
    """

    splits: int = 50
    baselines: bool = True

    def detector(self, alpha: float = ALPHA, seed: int = 0, **parameters: Any) -> NoveltyDetector:
        """Return a detector with the default parameters."""
        return NoveltyDetector(alpha, n_jobs=self.n_jobs, random_state=seed, **parameters)


class Labelled(NamedTuple):
    """Texts with their classes."""

    texts: list[str]
    labels: NDArray[Any]


class Clinc(NamedTuple):
    """The splits of CLINC150, and the out-of-scope requests of the test split."""

    train: Labelled
    validation: Labelled
    test: Labelled
    out_of_scope: list[str]


def clinc150(setting: Setting) -> Table:
    """CLINC150: train on the training split, set the threshold by the validation split, then test.

    Out-of-scope requests are used in the test only. In "accuracy, refused wrong" a known request
    that is predicted novel counts as an error. The C of logistic regression and of LinearSVC is
    chosen by 3-fold cross-validation on the training side.
    """
    clinc = _clinc(setting)
    rows = [_clinc_ours(setting, clinc)]
    if not setting.baselines:
        return table_of(rows)
    baselines = DocumentBaselines(*clinc.train, stop_words=False)
    right = baselines.classify(clinc.test.texts) == clinc.test.labels
    for name, score in DOCUMENT_BASELINES.items():
        setting.say(f"clinc150: {name}")
        held_back = score(baselines, clinc.validation.texts)
        calibration = Calibration(
            held_back, np.zeros(len(held_back), np.int64), ALPHA, classwise=False
        )
        known, novel = score(baselines, clinc.test.texts), score(baselines, clinc.out_of_scope)
        false_alarm, found = (
            calibration.p_values(scores, np.zeros(len(scores), np.int64)) <= ALPHA
            for scores in (known, novel)
        )
        rows.append(
            {
                "scorer": name,
                "AUROC": _auroc(known, novel),
                "recall at 5 %": float(found.mean()),
                "false alarms": float(false_alarm.mean()),
                "accuracy, refused wrong": float((right & ~false_alarm).mean()),
                "class accuracy": float(right.mean()),
            }
        )
    return table_of(rows)


def _clinc_ours(setting: Setting, clinc: Clinc) -> dict[str, Any]:
    detector = setting.detector().fit(*clinc.train, held_back=clinc.validation.texts)
    test, novel = clinc.test, clinc.out_of_scope
    votes = detector.rule_votes(test.texts)
    return {
        "scorer": OURS,
        **_detected(detector, clinc),
        "accuracy, refused wrong": float((detector.predict(test.texts) == test.labels).mean()),
        "class accuracy": float((detector.nearest(test.texts) == test.labels).mean()),
        "class accuracy, rules alone": float(
            (detector.classes_[votes.argmax(axis=1)] == test.labels).mean()
        ),
        "AUROC, rules alone": _auroc(*(_rules_alone(detector, t) for t in (test.texts, novel))),
        "named by rules": detector.scorer_.by_rules,
    }


def _rules_alone(detector: NoveltyDetector, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the novelty by rules alone, of the class that they name."""
    scores = detector.scorer_.naming(by_rules=True).score_texts(texts)
    found: NDArray[np.float64] = scores.parts[:, PARTS.index("rules")]
    return found


def _detected(detector: NoveltyDetector, clinc: Clinc) -> dict[str, float]:
    known, novel = clinc.test.texts, clinc.out_of_scope
    return {
        "AUROC": _auroc(detector.novelty(known), detector.novelty(novel)),
        "recall at 5 %": float((detector.predict(novel) == NOVEL).mean()),
        "false alarms": float((detector.predict(known) == NOVEL).mean()),
    }


def clinc150_unlabelled(setting: Setting) -> Table:
    """CLINC150 without labels: all requests as one class, or as groups found by clustering."""
    clinc = _clinc(setting)
    rows = []
    for n_groups in (1, 10, 50):
        detector = setting.detector(n_groups=n_groups)
        detector.fit(clinc.train.texts, held_back=clinc.validation.texts)
        rows.append({"scorer": f"{OURS}, n_groups={n_groups}", **_detected(detector, clinc)})
    return table_of(rows)


def newsgroups_paper(setting: Setting) -> Table:
    """20 Newsgroups, the paper's three groups: the split by date, without headers.

    The C of logistic regression and of LinearSVC is chosen by 3-fold cross-validation on the
    training side.
    """
    corpus = load_20newsgroups(setting.data)
    train = corpus.only(*PAPER_KNOWN, split="train")
    known = corpus.only(*PAPER_KNOWN, split="test").texts
    novel = corpus.only(PAPER_NOVEL, split="test").texts
    found = _aurocs(setting, train.texts, train.labels, known, novel)
    return table_of([{"scorer": name, "AUROC": value} for name, value in found.items()])


def newsgroups_each(setting: Setting) -> Table:
    """20 Newsgroups: each group is novel in turn, against five others drawn at random.

    The C of logistic regression and of LinearSVC is chosen by 3-fold cross-validation on the
    training side.
    """
    corpus = load_20newsgroups(setting.data)
    groups = sorted(set(corpus.labels or ()))
    found: list[dict[str, float]] = []
    for number, group in enumerate(groups):
        setting.say(f"20newsgroups-each: {group}")
        train, known, novel = _newsgroup(corpus, number, group)
        found.append(_aurocs(setting, train.texts, train.labels, known, novel))
    return _means(found, groups)


def _newsgroup(
    corpus: LabelledDocuments, number: int, group: str
) -> tuple[LabelledDocuments, list[str], list[str]]:
    """Return posts of five drawn groups to learn, others of them, and posts of another group."""
    others = sorted(set(corpus.labels or ()) - {group})
    drawn = np.random.RandomState(number).choice(others, N_KNOWN_GROUPS, replace=False).tolist()
    known, novel = corpus.only(*drawn, split="test"), corpus.only(group, split="test")
    return corpus.only(*drawn, split="train"), list(known.texts), list(novel.texts)


def bbcsport(setting: Setting) -> Table:
    """BBC Sport: each class is novel in turn; a third of the known articles is held out, 3 seeds.

    The C of logistic regression and of LinearSVC is chosen by 3-fold cross-validation on the
    training side.
    """
    corpus = load_bbcsport(setting.data)
    classes = sorted(set(corpus.labels or ()))
    found: list[dict[str, float]] = []
    for novel_class in classes:
        setting.say(f"bbcsport: {novel_class}")
        known = corpus.only(*(other for other in classes if other != novel_class))
        labels, novel = np.array(known.labels), corpus.only(novel_class).texts
        for seed in range(BBC_SEEDS):
            train, test = next(folds(labels, 3, random_state=seed))
            texts, held_out = ([known.texts[i] for i in rows] for rows in (train, test))
            found.append(_aurocs(setting, texts, labels[train], held_out, novel, seed=seed))
    return _means(found, [one for one in classes for _ in range(BBC_SEEDS)])


def false_alarms(setting: Setting) -> Table:
    """Rate of false alarms on new known documents, the mean over many random splits.

    "Expected" is the rate that split conformal prediction promises for the number of held-back
    documents, "2 sd" twice the standard deviation of the mean rate.
    """
    clinc = load_clinc150(setting.data)
    labels = np.array(clinc.labels)
    in_scope = np.flatnonzero(labels != "oos")
    sport = load_bbcsport(setting.data)
    corpora = {
        "CLINC150": Labelled([clinc.texts[i] for i in in_scope], labels[in_scope]),
        "BBC Sport": Labelled(list(sport.texts), np.array(sport.labels)),
    }
    return table_of([row for name in corpora for row in _alarm_rates(setting, name, corpora[name])])


def _alarm_rates(setting: Setting, name: str, documents: Labelled) -> list[dict[str, Any]]:
    texts, labels = documents
    n_train, n_test = FALSE_ALARM_SIZES[name]
    rates: dict[float, list[float]] = {alpha: [] for alpha in ALPHAS}
    for split in range(setting.splits):
        order = np.random.RandomState(split).permutation(len(texts))
        train, test = order[:n_train], order[n_train : n_train + n_test]
        detector = setting.detector(min(ALPHAS), seed=split)
        detector.fit([texts[i] for i in train], labels[train])
        held_out = [texts[i] for i in test]
        scores, nearest = detector.novelty(held_out), _class_numbers(detector, held_out)
        held_back = detector.calibration_
        for alpha in ALPHAS:
            calibration = Calibration(held_back.scores, held_back.nearest, alpha)
            rates[alpha].append(float((calibration.p_values(scores, nearest) <= alpha).mean()))
    n = len(held_back)
    return [
        {
            "documents": f"{name}, {n_train:,} known, {n_test:,} new",
            "alpha": alpha,
            "rate": float(np.mean(rates[alpha])),
            "expected": float(np.floor(alpha * (n + 1) + 1e-9) / (n + 1)),
            # The rate of a split varies with the held-back documents and with the new ones.
            "2 sd": float(
                2 * np.sqrt(alpha * (1 - alpha) * (1 / (n + 2) + 1 / n_test) / setting.splits)
            ),
        }
        for alpha in ALPHAS
    ]


def _class_numbers(detector: NoveltyDetector, texts: Sequence[str]) -> NDArray[np.int64]:
    numbers = {label: number for number, label in enumerate(detector.classes_.tolist())}
    return np.array([numbers[label] for label in detector.nearest(texts).tolist()], np.int64)


def deletions(setting: Setting) -> Table:
    """Words to remove until a novel request of CLINC150 is known: newfound, LIME, random order."""
    clinc = _clinc(setting)
    detector = setting.detector().fit(*clinc.train, held_back=clinc.validation.texts)
    return deletion(detector, clinc.out_of_scope[:N_DELETION_TEXTS], say=setting.say)


def reasons(setting: Setting) -> Table:
    """CLINC150: what the words of true alarms tell, three draws of three quarters of the intents.

    The detector learns the training requests of the drawn intents, and explains requests of the
    others, and out-of-scope ones, that it calls novel. "Words sum to novel": the ten words listed
    first, and the baseline, exceed the threshold. "First word": a greater share of the requests of
    its intent than of the known ones has the word that is named first, the request itself and the
    training requests counted; "in other requests": these alone. Each out-of-scope request is about
    another subject.
    """
    return explained_requests(
        load_clinc150(setting.data),
        lambda seed: setting.detector(seed=seed),
        REASON_DRAWS,
        setting.say,
    )


def sentences(setting: Setting) -> Table:
    """Sentences of another kind planted into documents, and found among the own ones.

    20 Newsgroups: a sentence of five groups in posts of five others, which are known. CLINC150: an
    out-of-scope request between four in-scope ones. "Within documents" is the mean share of the own
    sentences of a document that have a lower score than the planted one (AUROC); the others are the
    AUROC of documents with the sentence against the same without it, by the score of their newest
    sentence and by that of the whole text. The baselines learn from up to 10,000 sentences of the
    known documents. "False alarms" are those among one sentence of each document.
    """
    values: Values = {}
    corpus, requests = load_20newsgroups(setting.data), load_clinc150(setting.data)
    clinc = _clinc(setting)
    for seed in range(FIRST_PLANTED, FIRST_PLANTED + SENTENCE_DRAWS):
        setting.say(f"sentences: draw {seed - FIRST_PLANTED + 1}")
        train, planted = newsgroups_planted(corpus, seed)
        detector = setting.detector(seed=seed).fit(train.texts, train.labels)
        baselines = _of_sentences(train.texts, train.labels, seed) if setting.baselines else None
        measure_planted(values, "20 Newsgroups", planted, detector, baselines)
        planted = clinc150_planted(requests, seed)
        detector = setting.detector(seed=seed).fit(*clinc.train, held_back=clinc.validation.texts)
        baselines = _of_sentences(*clinc.train, seed) if setting.baselines else None
        measure_planted(values, "CLINC150", planted, detector, baselines)
    return means(values)


def _of_sentences(texts: Sequence[str], labels: Any, seed: int) -> DocumentBaselines:
    """Return baselines that learn from sentences, which have the classes of their documents."""
    found = [
        (one, label)
        for text, label in zip(texts, labels, strict=True)
        for one in sentences_in(text)
    ]
    rows = np.random.RandomState(seed).permutation(len(found))[:MOST_LEARNED]
    return DocumentBaselines(
        [found[i][0] for i in rows.tolist()],
        [found[i][1] for i in rows.tolist()],
        stop_words=False,
        seed=seed,
    )


def speed(setting: Setting) -> Table:
    """Time for requests of CLINC150 on one core, by the processor: in a batch, and one by one.

    With the encoders of NEWFOUND_ENCODER also in a batch by a detector that has learned 3,000
    requests with the encoder, which reads each request.
    """
    clinc = _clinc(setting)
    detector = NoveltyDetector(ALPHA, n_jobs=1, random_state=0)
    fit = _seconds(lambda: detector.fit(*clinc.train, held_back=clinc.validation.texts))
    texts = [*clinc.test.texts, *clinc.out_of_scope] * 4
    detector.predict(texts[:1000])
    batch = min(_seconds(lambda: detector.predict(texts)) for _ in range(3))
    some = [*clinc.test.texts[:250], *clinc.out_of_scope[:250]]

    def explain_all() -> None:
        for text in some:
            detector.explain(text)

    def find_counterfactuals() -> None:
        for text in some:
            _ = detector.explain(text).counterfactual

    explain_all()
    one = min(_seconds(explain_all) for _ in range(3)) / len(some)
    both = _seconds(find_counterfactuals) / len(some)
    rows = []
    for folder in encoder_folders():
        encoder = load_encoder(folder)
        other = NoveltyDetector(ALPHA, encoder=encoder, n_jobs=1, random_state=0)
        other.fit(*(part[::5] for part in clinc.train))
        other.predict(texts[:10])
        seconds = _seconds(partial(other.predict, texts[:1000]))
        name = f"messages a second with {encoder.name}, in a batch"
        rows.append({"measure": name, "value": 1000 / seconds})
    return table_of(
        [
            *rows,
            {"measure": "fit, seconds", "value": fit},
            {"measure": "messages a second, in a batch", "value": len(texts) / batch},
            {"measure": "one message with its explanation, ms", "value": 1000 * one},
            {"measure": "the same with its counterfactual, ms", "value": 1000 * both},
        ]
    )


def unseen_intents(setting: Setting) -> Table:
    """CLINC150 with 25, 50 and 75 % of the intents known: ten draws, as in TEXTOIR.

    Known intents are learned from their training requests; their validation requests set the
    threshold. The test has all test requests; those of other intents and the out-of-scope ones are
    "open". "F1 known" is the mean over known intents. The published figures, for 75 %, are those of
    TEXTOIR and of Adaptive-Boundary; the draws differ.
    """
    clinc, rows = _clinc(setting), []
    for share in SHARES:
        values: Values = {}
        for draw in range(UNSEEN_DRAWS):
            setting.say(f"unseen-intents: {share:.0%} known, draw {draw + 1}")
            drawn = draw_intents(*clinc, share=share, seed=draw)
            detector = setting.detector(seed=draw)
            detector.fit(drawn.train, drawn.train_labels, held_back=drawn.validation)
            for alpha in OPEN_ALPHAS:
                detector.set_params(alpha=alpha)
                found = open_scores(drawn.test_labels, detector.predict(drawn.test))
                for column, value in found.items():
                    add_value(values, f"{OURS}, alpha={alpha:g}", column, value)
        rows += [{"known intents": share, **row} for row in means(values)]
    ours = [{"scorer": row.pop("scorer"), **row} for row in rows]
    return table_of([*ours, *PUBLISHED])


def meaning(setting: Setting) -> Table:
    """Words alone, and with the encoders of the folders that NEWFOUND_ENCODER names.

    CLINC150: as in the suites of that name; unseen intents: as in "unseen-intents", three quarters
    of the intents are known. BBC Sport: as in "bbcsport". 20 Newsgroups: as in "20newsgroups-each",
    the first six groups. The baselines have the vectors only; logistic regression with C = 10.
    """
    return measure_encoder(_meaning_cases(setting), setting.detector, _auroc)


def _meaning_cases(setting: Setting) -> Iterator[Case]:
    clinc = _clinc(setting)
    setting.say("meaning: CLINC150")
    yield Case(
        "CLINC150, out of scope",
        *clinc.train,
        clinc.validation.texts,
        clinc.test.texts,
        clinc.out_of_scope,
    )
    for draw in range(UNSEEN_DRAWS):
        setting.say(f"meaning: unseen intents, draw {draw + 1}")
        drawn = draw_intents(*clinc, share=0.75, seed=draw)
        is_open = drawn.test_labels == NOVEL
        novel, known = (
            [drawn.test[i] for i in np.flatnonzero(side).tolist()] for side in (is_open, ~is_open)
        )
        yield Case(
            "CLINC150, unseen intents",
            drawn.train,
            drawn.train_labels,
            drawn.validation,
            known,
            novel,
            draw,
            drawn.test_labels[~is_open],
        )
    sports = load_bbcsport(setting.data)
    for sport in sorted(set(sports.labels or ())):
        setting.say(f"meaning: {sport}")
        old = sports.only(*(other for other in set(sports.labels or ()) if other != sport))
        of_old, novel = np.array(old.labels), list(sports.only(sport).texts)
        for seed in range(BBC_SEEDS):
            rows, rest = next(folds(of_old, 3, random_state=seed))
            texts, held_out = ([old.texts[i] for i in some] for some in (rows, rest))
            yield Case("BBC Sport", texts, of_old[rows], None, held_out, novel, seed)
    corpus = load_20newsgroups(setting.data)
    for number, group in enumerate(sorted(set(corpus.labels or ()))[:N_GROUPS_WITH_MEANING]):
        setting.say(f"meaning: {group}")
        train, known, novel = _newsgroup(corpus, number, group)
        yield Case("20 Newsgroups", list(train.texts), np.array(train.labels), None, known, novel)


def noise(setting: Setting) -> Table:
    """CLINC150 with everyday noise added to requests: false alarms and recall at 5 %, and AUROC.

    Learned from requests without noise, with labels and without. Requests are in lower case and
    mostly without punctuation.
    """
    clinc = _clinc(setting)
    detectors = {}
    for name, labels in (("labels", clinc.train.labels), ("no labels", None)):
        detectors[name] = setting.detector().fit(
            clinc.train.texts, labels, held_back=clinc.validation.texts
        )
    return table_of(noise_rows(detectors, clinc.test.texts, clinc.out_of_scope, _auroc))


def repeats(setting: Setting) -> Table:
    """Rate of false alarms on CLINC150 if known requests are repeated, with labels and without.

    2,000 known requests, some of them repeated, and 2,000 new ones, distinct, in a number of
    splits. Of templates there are three requests each that differ in a number; new ones have a
    number, too. "2 sd" is as in the suite false-alarms.
    """
    clinc = _clinc(setting)
    texts = [*clinc.train.texts, *clinc.validation.texts, *clinc.test.texts]
    labels = np.concatenate((clinc.train.labels, clinc.validation.labels, clinc.test.labels))
    rows, n_known = [], min(N_REPEATED, len(texts) // 2)
    for labelled, kind in ((labelled, kind) for labelled in (True, False) for kind in REPEATS):
        setting.say(f"repeats: {kind}, {'labels' if labelled else 'no labels'}")
        rates = []
        for split in range(setting.splits):
            random = np.random.RandomState(split)
            order = random.permutation(len(texts))
            train, test = order[:n_known], order[n_known : 2 * n_known]
            detector = setting.detector(seed=split)
            known, new = [texts[i] for i in train], [texts[i] for i in test]
            found = repeat_rates(
                kind, (known, labels[train]), new, detector, random, labelled=labelled
            )
            rates.append(found)
        n = len(detector.calibration_)
        row: dict[str, Any] = {"repeated": kind, "labels": labelled, "held back": n}
        for alpha, rate in zip(ALPHAS, np.mean(rates, axis=0).tolist(), strict=True):
            spread = alpha * (1 - alpha) * (1 / (n + 2) + 1 / n_known) / setting.splits
            row |= {f"at {alpha:.0%}": rate, f"2 sd at {alpha:.0%}": float(2 * np.sqrt(spread))}
        rows.append(row)
    return table_of(rows)


SUITES: Mapping[str, Callable[[Setting], Table]] = MappingProxyType(
    {
        "clinc150": clinc150,
        "clinc150-unlabelled": clinc150_unlabelled,
        "unseen-intents": unseen_intents,
        "20newsgroups": newsgroups_paper,
        "20newsgroups-each": newsgroups_each,
        "bbcsport": bbcsport,
        "false-alarms": false_alarms,
        "repeats": repeats,
        "noise": noise,
        "meaning": meaning,
        "groups": groups,
        "deletion": deletions,
        "reasons": reasons,
        "sentences": sentences,
        "speed": speed,
    }
)


def _clinc(setting: Setting) -> Clinc:
    corpus = load_clinc150(setting.data)
    labels, splits = np.array(corpus.labels), np.array(corpus.splits)

    def part(split: str, *, in_scope: bool) -> Labelled:
        rows = np.flatnonzero((splits == split) & ((labels != "oos") == in_scope))
        return Labelled([corpus.texts[i] for i in rows], labels[rows])

    train, validation, test = (part(split, in_scope=True) for split in ("train", "val", "test"))
    return Clinc(train, validation, test, part("test", in_scope=False).texts)


def _aurocs(
    setting: Setting,
    texts: Sequence[str],
    labels: Any,
    known: Sequence[str],
    novel: Sequence[str],
    *,
    seed: int = 0,
) -> dict[str, float]:
    """Return the AUROC of the detector and, if they are asked for, of all baselines."""
    detector = setting.detector(seed=seed).fit(texts, labels)
    found = {OURS: _auroc(detector.novelty(known), detector.novelty(novel))}
    if not setting.baselines:
        return found
    baselines = DocumentBaselines(texts, labels, stop_words=True, seed=seed)
    for name, score in DOCUMENT_BASELINES.items():
        found[name] = _auroc(score(baselines, known), score(baselines, novel))
    return found


def _auroc(known: NDArray[np.float64], novel: NDArray[np.float64]) -> float:
    from sklearn.metrics import roc_auc_score

    labels = np.repeat([False, True], [len(known), len(novel)])
    return float(roc_auc_score(labels, np.concatenate((known, novel))))


def _seconds(action: Callable[[], object]) -> float:
    """Return the processor time, which depends less on the load of the machine than wall time."""
    started = time.process_time()
    action()
    return time.process_time() - started


def _means(found: Sequence[Mapping[str, float]], groups: Sequence[str]) -> Table:
    """Average over all runs, and over the runs of each group."""
    rows = []
    for name in found[0]:
        values = np.array([run[name] for run in found])
        row: dict[str, Any] = {"scorer": name, "mean AUROC": float(values.mean())}
        for group in dict.fromkeys(groups):
            row[group] = float(values[np.array(groups) == group].mean())
        rows.append(row)
    return table_of(rows)

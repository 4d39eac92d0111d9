"""On its way through detect, each message is split into words, scored and explained once."""

import json
from collections import Counter
from dataclasses import replace
from typing import ClassVar

import pytest
from typer.testing import CliRunner

import newfound
from newfound import runs
from newfound.cli import app
from newfound.detection.scoring import Scorer
from newfound.show.collect import Limits
from newfound.text.courtesies import without_courtesies
from newfound.text.encoding import Encoder, TokenizedTexts
from newfound.text.vectorizer import TextVectorizer

N_INCOMING = 80
CANDIDATES = 24  # texts that a counterfactual scores at a time


class CountedText(str):
    """A text that counts how often it is put into lower case, as to split it into words."""

    __slots__ = ()
    lowered: ClassVar[Counter[str]] = Counter()

    def lower(self):
        self.lowered[str(self)] += 1
        return super().lower()

    def translate(self, table):
        self.lowered[str(self)] += 1
        return super().translate(table)


@pytest.fixture
def counts(monkeypatch):
    """Count how often texts are split, the texts scored in each call, and the explanations."""
    found = {"split": Counter(), "scored": [], "explained": 0}
    score, contributions = Scorer.score, Scorer.contributions
    tokenize, encode, tokens = TokenizedTexts.of, Encoder.encode, TextVectorizer.tokens

    def counted(texts):
        for text in texts:
            found["split"][str(text)] += 1
            yield text

    monkeypatch.setattr(TokenizedTexts, "of", lambda texts: tokenize(counted(texts)))
    monkeypatch.setattr(
        Encoder, "encode", lambda self, texts, **options: encode(self, counted(texts), **options)
    )
    monkeypatch.setattr(TextVectorizer, "tokens", lambda self, text: tokens(self, *counted([text])))

    def counted_score(self, bags, progress=None):
        found["scored"].append(len(bags))
        return score(self, bags, progress)

    def counted_contributions(self, *arguments):
        found["explained"] += 1
        return contributions(self, *arguments)

    monkeypatch.setattr(Scorer, "score", counted_score)
    monkeypatch.setattr(Scorer, "contributions", counted_contributions)
    CountedText.lowered.clear()
    return found


@pytest.fixture
def files(tmp_path, monkeypatch):
    known, novel = newfound.load_sample()
    incoming = [*known.texts[1:60:2], *novel.texts[: N_INCOMING - 30]]
    assert len(set(incoming)) == N_INCOMING < Limits().documents
    rows = zip(known.texts[::4], known.labels[::4], strict=True)
    lines = [json.dumps({"text": text, "label": label}) for text, label in rows]
    (tmp_path / "known.jsonl").write_text("\n".join(lines))
    (tmp_path / "incoming.txt").write_text("\n".join(incoming))
    collect = runs.collect

    def collect_counted(reader, *options):
        found = collect(reader, *options)
        if not reader.path.endswith("incoming.txt"):
            return found
        return replace(found, texts=tuple(map(CountedText, found.texts)))

    monkeypatch.setattr(runs, "collect", collect_counted)
    return tmp_path, incoming


def run(folder, *arguments):
    result = CliRunner().invoke(app, ["detect", *map(str, arguments), "--json", "-q"])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("report", [False, True])
def test_the_command_handles_each_message_once(files, counts, report):
    """With a report, without the description, whose examples are looked up in the texts."""
    folder, incoming = files
    learn = ["--known", folder / "known.jsonl", "--labels-column", "label"]
    extra = ["--report", folder / "page.html", "--no-description"] if report else []
    data = run(
        folder, *learn, "--incoming", folder / "incoming.txt", "--output", folder / "rows.csv",
        "--save", folder / "d.nf", *extra,
    )  # fmt: skip
    assert data["groups"] and bool(data["novel_words"]) != report
    assert {text: counts["split"][text] for text in incoming} == dict.fromkeys(incoming, 1)
    if report:  # nothing else reads the texts; a description looks for copies and dates
        # A text where long numbers are looked for is read as another string, which is not counted.
        counted = [
            text
            for text in incoming
            if isinstance(without_courtesies(CountedText(text), "en"), CountedText)
        ]
        assert dict(CountedText.lowered) == dict.fromkeys(counted, 1)
        assert len(counted) > 0.8 * N_INCOMING
    # Counterfactuals, which the page shows, score shorter versions of some texts.
    scored = [n for n in counts["scored"] if n > CANDIDATES]
    held_back = data["known"]["held_back"]  # and their sentences, for the file: as many
    assert sorted(scored) == sorted([held_back, held_back, N_INCOMING])
    assert report or counts["scored"] == scored
    assert counts["explained"] == (N_INCOMING if report else data["novel"])  # the page shows all


def test_a_saved_detector_handles_each_message_once(files, counts):
    folder, incoming = files
    path = folder / "d.nf"
    run(
        folder, "--known", folder / "known.jsonl", "--labels-column", "label", "--incoming",
        folder / "incoming.txt", "--save", path, "--no-description",
    )  # fmt: skip
    counts.update(split=Counter(), scored=[], explained=0)
    data = run(folder, "--model", path, "--incoming", folder / "incoming.txt")
    assert data["novel_words"]
    assert counts["split"] == dict.fromkeys(incoming, 1)
    assert counts["scored"] == [N_INCOMING]
    assert counts["explained"] == data["novel"] > 20


def test_explain_splits_and_scores_the_text_once(counts):
    known, novel = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=1).fit(known.texts[::8])
    counts.update(split=Counter(), scored=[], explained=0)
    verdict = detector.explain(CountedText(novel.texts[0]))
    assert CountedText.lowered == {novel.texts[0]: 1} and not counts["split"]
    assert (counts["scored"], counts["explained"]) == ([1], 1)
    assert verdict.novelty == detector.novelty(novel.texts[:1])[0]


def test_progress_is_reported_for_every_step_and_reaches_the_end():
    known, novel = newfound.load_sample()
    steps = {}

    def progress(step, done, total):
        assert done >= steps.get(step, (0, total))[0] and total == steps.get(step, (0, total))[1]
        steps[step] = (done, total)

    epochs = []
    detector = newfound.NoveltyDetector(random_state=1, epochs=2)
    detector.fit(
        known.texts[::4], known.labels[::4], callback=lambda info: epochs.append(info.epoch)
    )
    assert epochs == [1, 2, 1, 2]
    small = {"n_machines": 2, "n_clauses": 20, "epochs": 2}
    found = detector.detect(novel.texts[:50], progress=progress, **small)
    assert list(steps) == ["Scoring", "Explaining", "Describing"]
    assert all(done == total for done, total in steps.values())
    assert (steps["Scoring"][1], steps["Explaining"][1]) == (50, found.n_novel)


def test_bags_of_a_saved_detector_are_described_as_its_texts_would_be():
    """The words of known documents are handed on; as texts they would give the same words.

    Without lemmas, because the lemmas of known documents are those of the detector.
    """
    known, novel = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=2).fit(known.texts[::4])
    small = {"n_machines": 2, "n_clauses": 20, "epochs": 2, "fold_copies": False, "calendar": True}
    small["lemmatize"] = False
    scorer = detector.scorer_
    forms = scorer.vectorizer.forms_
    matrix, words = scorer.statistics.matrix, [next(iter(forms[term])) for term in scorer.terms]
    texts = [
        ". ".join(words[j] for j in matrix[i].indices.tolist() if " " not in words[j])
        for i in range(matrix.shape[0])
    ]
    from_bags, from_texts = (
        detector.detect(novel.texts[:60], known=given, **small).description
        for given in (None, texts)
    )
    assert from_bags.words_.to_records() == from_texts.words_.to_records()
    assert not any(text for text in from_bags.corpus_.texts[: len(texts)])


def test_known_bags_are_no_copies_of_one_another():
    """Words without their order make no passages, however many two documents share."""
    known = [f"pay {verb} my big new monthly phone bill today" for verb in "abcdefghij"] * 12
    detector = newfound.NoveltyDetector(random_state=1, epochs=1).fit(known)
    novel = [f"zyx{i} flight moon: pay my big new phone bill {i}" for i in range(8)]
    small = {"n_machines": 2, "n_clauses": 20, "epochs": 2}
    described = detector.detect(novel, **small).description
    assert described.copies_.n_documents["known"] == 0
    assert not described.copies_.passages[~described.copies_.novel].any()
    row = described.words_.number("phone")
    assert described.words_["documents_known"][row] == described.n_documents_["known"] > 50


def test_known_words_are_counted_as_the_detector_counted_them():
    """*checkings* has the lemma *checking*, which has the lemma *check*."""
    words = ("checkings", "checks", "checking")
    known = [f"pay {word} of my account {i}" for i in range(30) for word in words]
    detector = newfound.NoveltyDetector(random_state=1, epochs=1, held_back=0.3).fit(known)
    learned = dict(
        zip(detector.scorer_.terms, detector.scorer_.statistics.frequencies, strict=True)
    )
    assert learned["checking"] > 5 < learned["check"]
    novel = [
        f"my flight: pay checkings of my Wales account or a check of Wales {i}" for i in range(8)
    ]
    small = {"n_machines": 2, "n_clauses": 20, "epochs": 2, "calendar": True, "min_df": 1}
    words = detector.detect(novel, **small).description.words_
    for row in words:
        assert row["documents_known"] == learned.get(row["word"], 0), row["word"]
    assert {"wales", "checking", "check"} <= set(words["word"])  # a name, though no known one
    assert words.row("checking")["documents_novel"] == words.row("check")["documents_novel"] == 8

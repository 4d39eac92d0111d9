"""On its way through detect, each message is split into words, scored and explained once."""

import json
from collections import Counter
from dataclasses import replace
from typing import ClassVar

import pytest
from typer.testing import CliRunner

import newfound
from newfound.cli import app
from newfound.detection.scoring import Scorer
from newfound.report.limits import Limits
from newfound.text import documents

N_INCOMING = 80
CANDIDATES = 24  # texts that a counterfactual scores at a time


class CountedText(str):
    """A text that counts how often it is split into words: this begins with its lower case."""

    __slots__ = ()
    split_up: ClassVar[Counter[str]] = Counter()

    def lower(self):
        self.split_up[str(self)] += 1
        return super().lower()

    def translate(self, table):
        self.split_up[str(self)] += 1
        return super().translate(table)


@pytest.fixture
def counts(monkeypatch):
    """Count the texts that are scored, by call, and the explanations."""
    found = {"scored": [], "explained": 0}
    score, contributions = Scorer.score, Scorer.contributions

    def counted_score(self, bags, progress=None):
        found["scored"].append(len(bags))
        return score(self, bags, progress)

    def counted_contributions(self, *arguments):
        found["explained"] += 1
        return contributions(self, *arguments)

    monkeypatch.setattr(Scorer, "score", counted_score)
    monkeypatch.setattr(Scorer, "contributions", counted_contributions)
    CountedText.split_up.clear()
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
    read = documents.read_documents

    def read_counted(path, **options):
        found = read(path, **options)
        if not path.endswith("incoming.txt"):
            return found
        return replace(found, texts=tuple(map(CountedText, found.texts)))

    monkeypatch.setattr(documents, "read_documents", read_counted)
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
    assert dict(CountedText.split_up) == dict.fromkeys(incoming, 1)
    # Counterfactuals, which the page shows, score shorter versions of some texts.
    scored = [n for n in counts["scored"] if n > CANDIDATES]
    assert sorted(scored) == sorted([data["known"]["held_back"], N_INCOMING])
    assert report or counts["scored"] == scored
    assert counts["explained"] == (N_INCOMING if report else data["novel"])  # the page shows all


def test_a_saved_detector_handles_each_message_once(files, counts):
    folder, incoming = files
    path = folder / "d.nf"
    run(
        folder, "--known", folder / "known.jsonl", "--labels-column", "label", "--incoming",
        folder / "incoming.txt", "--save", path, "--no-description",
    )  # fmt: skip
    CountedText.split_up.clear()
    counts["scored"].clear()
    counts["explained"] = 0
    data = run(folder, "--model", path, "--incoming", folder / "incoming.txt")
    assert data["novel_words"]
    assert dict(CountedText.split_up) == dict.fromkeys(incoming, 1)
    assert counts["scored"] == [N_INCOMING]
    assert counts["explained"] == data["novel"] > 20


def test_explain_splits_and_scores_the_text_once(counts):
    known, novel = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=1).fit(known.texts[::8])
    counts["scored"].clear()
    verdict = detector.explain(CountedText(novel.texts[0]))
    assert CountedText.split_up == {novel.texts[0]: 1}
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
    """The words of known documents are handed on; as texts they would give the same words."""
    known, novel = newfound.load_sample()
    detector = newfound.NoveltyDetector(random_state=1, epochs=2).fit(known.texts[::4])
    small = {"n_machines": 2, "n_clauses": 20, "epochs": 2}
    scorer = detector.scorer_
    matrix, words = scorer.statistics.matrix, scorer.terms
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

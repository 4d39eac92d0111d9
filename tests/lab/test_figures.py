"""Figures that the README and the site quote are those of the kept results.

Each test writes the quoted lines from ``benchmarks/results`` and looks for them in the page.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from lab.__main__ import app
from tools_of_repository import load_tool

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks/results"
if not RESULTS.exists():
    pytest.skip("the results are not beside the tests", allow_module_level=True)

Row = dict[str, Any]


@cache
def kept(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text("utf-8"))


def rows(name: str, suite: str) -> list[Row]:
    found: list[Row] = kept(name)["suites"][suite]["rows"]
    return found


def row(name: str, suite: str, **wanted: Any) -> Row:
    """Return the row of a suite whose columns have these values or begin with them."""
    found = [
        one
        for one in rows(name, suite)
        if all(
            str(one[key]).startswith(value) if isinstance(value, str) else one[key] == value
            for key, value in wanted.items()
        )
    ]
    assert found, (name, suite, wanted)
    return found[0]


def rules_page() -> Iterator[str]:
    for suite, title in (
        ("clinc150", "CLINC150, 150 intents"),
        ("20newsgroups", "20 Newsgroups, by date"),
        ("bbcsport", "BBC Sport, 5 sports"),
    ):
        methods = [f"rules, at most {words} word" for words in (1, 4, 12)] + ["logistic regression"]
        values = [row("rules", suite, method=method)["accuracy"] for method in methods]
        yield f"| {title} | " + " | ".join(f"{value:.3f}" for value in values) + " |"


def themes_page() -> Iterator[str]:
    for one in rows("themes", "shift"):
        shares = (one["topics found"], one["about no topic"], one["about nothing new"])
        yield f"| {one['data']} | " + " | ".join(f"{percent(share)} %" for share in shares) + " |"
    for data in dict.fromkeys(one["data"] for one in rows("topic_models", "topic-models")):
        found = {
            one["method"]: percent(one["topics found"])
            for one in rows("topic_models", "topic-models")
            if one["data"] == data
        }
        cells = [f"{found['newfound: themes']} %"]
        for peer in ("k-means", "NMF", "LDA"):
            (name,) = [
                name for name in found if name.startswith(peer) and not name.endswith("best number")
            ]
            cells.append(f"{found[name]} % ({found[f'{name}, best number']} %)")
        yield f"| {data} | {' | '.join(cells)} |"


def percent(share: float) -> str:
    """Return a share in percent, rounded half up, as the kept pages have it."""
    return str(int(100 * share + 0.5 + 1e-9))


def best(name: str, suite: str, column: str) -> Row:
    """Return the best row of a suite that is not newfound's."""
    others = [one for one in rows(name, suite) if "newfound" not in one["scorer"]]
    return max(others, key=lambda one: one[column])


def reasons_and_sentences() -> Iterator[str]:
    intents, others = (
        row("reasons", "reasons", requests=f"test, {kind}")
        for kind in ("unseen intents", "out of scope")
    )
    for column in (
        "words sum to novel",
        "first word",
        "first word, in other requests",
        "one of three, in other requests",
        "useful rules",
    ):
        yield f"| {100 * intents[column]:.1f} % | {100 * others[column]:.1f} % |"
    found = rows("reasons", "sentences")
    for one in found:
        columns = ("within documents", "documents, newest sentence", "documents, as a whole")
        yield " | ".join(f"{one[column]:.3f}" for column in columns)
    rates = [one for one in found if one["scorer"].endswith("newfound")]
    for column in ("false alarms at 5 %", "found at 5 %"):
        yield " and ".join(f"{100 * one[column]:.1f}" for one in rates) + " %"
    removed = [one["mean words"] for one in rows("reasons", "deletion")]
    yield f"{removed[0]:.2f} by the counterfactual, {removed[1]:.2f} in the order of"
    yield f"{sum(removed[2:]) / 3:.1f} at random"


def detection_page() -> Iterator[str]:
    ours = row("documents", "clinc150", scorer="newfound")
    peer = best("documents", "clinc150", "AUROC")
    yield f"| {peer['AUROC']:.3f} (LinearSVC, character n-grams) | {ours['AUROC']:.3f}; "
    yield f"rules alone {ours['AUROC, rules alone']:.3f} |"
    yield f"| {peer['recall at 5 %']:.1%} | {ours['recall at 5 %']:.1%} |".replace("%", " %")
    yield f"| {peer['false alarms']:.1%} | {ours['false alarms']:.1%} |".replace("%", " %")
    column = "accuracy, refused wrong"
    value = best("documents", "clinc150", column)[column]
    yield f"| {100 * value:.1f} % (LinearSVC, words) | {100 * ours[column]:.1f} % |"
    column = "class accuracy"
    words = row("documents", "clinc150", scorer="words and pairs, logistic")[column]
    yield f"| {100 * words:.1f} % (logistic regression) | {100 * ours[column]:.1f} %, by rules |"
    alone = row("documents", "clinc150-unlabelled", scorer="newfound, n_groups=1")
    yield f"| {alone['AUROC']:.3f}, {100 * alone['recall at 5 %']:.1f} % |"
    for suite, column in (("20newsgroups", "AUROC"), ("bbcsport", "mean AUROC")):
        peer, mine = best("documents", suite, column), row("documents", suite, scorer="newfound")
        yield f"| {peer[column]:.3f} (LinearSVC) | {mine[column]:.3f} |"
    for corpus in ("CLINC150", "BBC Sport"):
        alarms = [
            one for one in rows("documents", "false-alarms") if one["documents"].startswith(corpus)
        ]
        rates, expected = (
            ", ".join(f"{100 * one[key]:.2f}" for one in alarms) for key in ("rate", "expected")
        )
        yield f"{rates} %"
        yield f"expected {expected}"
    ours, *random = rows("documents", "deletion")
    random = [one for one in random if one["words"].startswith("random")]
    flipped, words = (sum(one[key] for one in random) / 3 for key in ("flipped", "mean words"))
    mine = f"{percent(ours['flipped'])} %; {ours['mean words']:.2f}"
    yield f"random order {percent(flipped)} %; {words:.1f} | {mine} |"
    yield from reasons_and_sentences()
    speed = {one["measure"]: one["value"] for one in rows("detection_speed", "speed")}
    yield f"| {round(speed['messages a second, in a batch'], -3):,.0f} |"
    yield f"| {speed['one message with its explanation, ms']:.1f} ms; "
    for alpha in ("0.05", "0.1"):
        open_ = next(
            one
            for one in rows("unseen_intents", "unseen-intents")
            if one["scorer"] == f"newfound, alpha={alpha}" and one["known intents"] == 0.75
        )
        cells = f"{open_['F1 open']:.3f} | {open_['F1 known']:.3f}"
        yield f"alpha = {100 * float(alpha):.0f} % | {cells} |"
    ours, peer, *_ = rows("groups", "groups")
    for corpus in ("CLINC150", "BBC Sport", "20 Newsgroups"):
        mine = [f"{ours[f'{corpus}, {measure}']:.2f}" for measure in ("ARI", "F1")]
        other = [f"{peer[f'{corpus}, {measure}']:.2f}" for measure in ("ARI", "F1")]
        yield f"{mine[0]} and {mine[1]} ("
        yield f"{other[0]} and {other[1]})"


def words_page() -> Iterator[str]:
    for suite, title in (
        ("planted-words", "planted words"),
        ("documents-from-words", "documents from words"),
        ("shift", "shift"),
        ("months", "months"),
    ):
        page = (ROOT / "docs/words-method.md").read_text("utf-8")
        columns = [
            column
            for column in rows("words", suite)[0]
            if f"{column}, sd" in rows("words", suite)[0]
        ]
        quoted = 0
        for column in columns:
            name = column.replace("%", " %")
            if f"| {title} | {name} |" not in page:
                continue
            quoted += 1
            ours = row("words", suite, scorer="newfound: novelty")
            peer = best("words", suite, column)
            cells = [f"{one[column]:.3f} ± {one[f'{column}, sd']:.3f}" for one in (ours, peer)]
            yield f"| {title} | {name} | {cells[0]} | {cells[1]} ({peer['scorer']}) |"
        assert quoted >= 2, suite
    among = {one["scorer"]: one["among 20"] for one in rows("words", "planted-pairs")}
    yield f"{among['newfound: phrases']:.3f} of the pairs are among the 20 strongest phrases"
    committee = row("words", "planted-words", scorer="newfound: score of the committee")
    yield f"has {committee['q = 2%']:.3f} on planted words at 2 %"
    inside = rows("words", "intervals")[0]
    yield ", ".join(
        f"{corpus} {100 * inside[f'{corpus}, all words']:.1f} %"
        for corpus in ("BBC Sport", "20 Newsgroups", "CLINC150", "ABC News")
    )
    for scorer in ("newfound: explanation", "newfound: novelty", "exact"):
        one = row("words", "faithfulness", scorer=scorer)
        values = [f"{one[f'C = {c}, comprehensiveness']:.3f}" for c in (1, 10)]
        if scorer == "newfound: explanation":
            yield f"falls by {values[0]} (C = 1) and {values[1]} (C = 10)"
        else:
            yield f"by {values[0]} and {values[1]}"


def meaning_page() -> Iterator[str]:
    for data, name in (
        ("CLINC150, out", "CLINC150, out of scope"),
        ("CLINC150, unseen", "CLINC150, a quarter of the intents unseen"),
        ("BBC Sport", "BBC Sport, each sport unseen"),
        ("20 Newsgroups", "20 Newsgroups, each of six groups unseen"),
    ):
        for kind, start in (("labels", name), ("no labels", "the same, no labels")):
            found = [
                one
                for one in rows("meaning", "meaning")
                if one["data"].startswith(data) and one["known by"] == kind
            ]
            words, large, light, *others = found
            own = [one for one in others if one["scorer"].startswith("all-MiniLM")]
            cells = " | ".join(
                f"{one['AUROC']:.3f}, {percent(one['recall at 5 %'])} %"
                for one in (words, large, light)
            )
            yield f"| {start} | {cells} | {max(float(one['AUROC']) for one in own):.3f} ("
            if (data, kind) == ("CLINC150, unseen", "labels"):
                for one, scorer in ((words, "words"), (large, "words and encoder")):
                    cells = " | ".join(
                        f"{one[f'F1 {which}, alpha={alpha}']:.3f}"
                        for alpha in ("0.05", "0.1")
                        for which in ("open", "known")
                    )
                    yield f"| {scorer} | {cells} |"
    ours, peer, large, _, light, _ = rows("groups", "groups")
    for one in (ours, large, light, peer):
        cells = ", ".join(
            f"{one[f'{corpus}, ARI']:.2f}" for corpus in ("CLINC150", "BBC Sport", "20 Newsgroups")
        )
        yield cells


def monitor_page() -> Iterator[str]:
    martingales = []
    for corpus in ("CLINC150", "20 Newsgroups"):
        topics, rate = (
            row(
                "stream-false-alarms",
                "false-alarms",
                corpus=corpus,
                test=f"monitor, alerts of kind {kind}",
            )
            for kind in ("topic", "rate")
        )
        yield f"raised {topics['in 50,000'] + rate['in 50,000']:.2f}"
        between = "95 % interval " if corpus == "CLINC150" else ""
        yield f"{topics['in 50,000']:.2f} topics ({between}{interval(topics)})"
        yield f"{rate['in 50,000']:.2f} of the rate ({interval(rate)})"
        martingale = row(
            "stream-false-alarms", "false-alarms", corpus=corpus, test="rate, conformal"
        )
        martingales.append(f"{100 * martingale['share']:.1f} %")
    yield f"raised an alarm in {martingales[0]} and in {martingales[1]} of the streams"
    clinc150, newsgroups = (
        {
            one["method"]: one
            for one in rows("stream-new-class", "new-class")
            if one["corpus"] == corpus
        }
        for corpus in ("CLINC150", "20 Newsgroups")
    )
    ours = "monitor, topics"
    yield f"a median of {clinc150[ours]['delay']:.0f} of its documents on CLINC150"
    missed = percent(newsgroups[ours]["missed"])
    yield f"of {newsgroups[ours]['delay']:.0f} on 20 Newsgroups (5 groups; {missed} % missed"
    both = [one["Page-Hinkley on the novelty"] for one in (clinc150, newsgroups)]
    yield f"sooner ({both[0]['delay']:.0f} and {both[1]['delay']:.0f})"
    yield f"with {both[0]['false']:.0f} and {both[1]['false']:.0f} false alarms"
    both = [one["threshold on the rate"] for one in (clinc150, newsgroups)]
    yield f"missed {percent(both[0]['missed'])} % and {percent(both[1]['missed'])} %"
    for word, quote in (
        ("war", "the war in Iraq was an alert on {}"),
        ("sars", "SARS was one on {}"),
        ("respiratory", "Already on {} there was an alert *mystery respiratory*"),
    ):
        days = [
            one["day"] for one in rows("stream-abcnews", "abcnews") if word in one["alert"].split()
        ]
        yield quote.format(min(days))
    headlines, posts = (
        {one["detector"]: one for one in rows("stream-events", "events") if one["corpus"] == corpus}
        for corpus in ("ABC headlines", "20 Newsgroups")
    )
    ours, bursts = headlines["monitor"], headlines["bursts, joined"]
    yield f"{ours['events']} events were listed"
    yield f"found {ours['found']} of them"
    yield f"with {ours['alerts']} alerts"
    yield f"{ours['duplicates']} alerts told"
    yield f"found {bursts['found']}, with as many alerts"
    yield f"Of {posts['monitor']['events']} events"
    assert posts["monitor"]["found"] == posts["bursts, joined"]["found"] == 2
    speed = rows("stream-speed", "speed")
    slowest = min(one["a second"] for one in speed)
    yield f"takes about {round(slowest, -3):,.0f} documents a second"
    yield f"peaked at {speed[0]['peak MB']:.0f} MB after 500,000 requests and after 2,000,000"


def interval(one: Row) -> str:
    return f"{one['low']:.2f} to {one['high']:.2f}"


def scale_page() -> Iterator[str]:
    found = {(one["name"], one["documents"]): one for one in kept("scale")["figures"]}
    for name, title in (
        ("detect, scores only", "score messages, without reasons; 150 classes"),
        ("describe headlines", "describe headlines, three passes"),
        ("describe documents of 200 words", "describe documents of 200 words, three passes"),
    ):
        few, many = found[name, 100_000], found[name, 2_000_000]
        each = (many["processor"] - few["processor"]) / 1.9e6
        fixed = few["processor"] - 1e5 * each
        cells = f"{fixed:.0f} | {1e6 * each:.1f} | {round(1 / each, -2):,.0f}"
        yield f"| {title} | {cells} | {many['peak_gb']:.2f} GB |"
        yield f"{many['seconds']:,.0f} s"
        yield f"{few['peak_gb']:.2f}"
    explained = row("detection_speed", "speed", measure="the same with its counterfactual, ms")
    yield f"with its counterfactual | | {1e3 * explained['value']:.0f} |"
    for name in (
        "NoveltyDetector.p_values, all messages in memory",
        "scikit-learn: TF-IDF, logistic regression, class probabilities",
    ):
        few, many = found[name, 100_000], found[name, 2_000_000]
        yield f"took {(many['processor'] - few['processor']) / 1.9:.1f} µs"
    spark = found["describe headlines on Spark, local[2]", 100_000]
    yield f"{spark['shuffled_mb_a_million']:.0f} MB for each million documents"
    yield f"its Python processes took {spark['peak_gb']:.1f} GB"


def times_as_fast(corpus: str, clauses: int, threads: int) -> float:
    """Return how many times as fast as green-tsetlin newfound's whole fit is."""
    seconds = {
        one["contender"]: one["whole_fit_s"]
        for one in kept("peers")["rows"]
        if (one["corpus"], one["clauses"], one["threads"]) == (corpus, clauses, threads)
    }
    return seconds["green-tsetlin"] / seconds["newfound"]


def readme() -> Iterator[str]:
    fits = [one for one in kept("peers")["rows"] if one["corpus"] == "bbcsport"]
    for name in ("newfound", "green-tsetlin", "tmu-coalesced", "tmu", "pyTsetlinMachineParallel"):
        (one,) = [
            one
            for one in fits
            if (one["contender"], one["clauses"], one["threads"]) == (name, 2000, 1)
        ]
        about = "~" if one["extrapolated"] else ""
        ready = f"{about}{one['whole_fit_s']:,.1f} s"
        predict = one["predict_same_us"] or one["predict_us"]
        yield f"| {ready} | {predict:,.1f} µs | {one['memory_mb']:.0f} MB |"
    yield kept("peers")["date"]
    yield f"load {kept('peers')['machine']['load_before']:.1f}"
    yield f"{times_as_fast('bbcsport', 200, 1):.1f} times as fast as that of green-tsetlin on BBC"
    yield f"{times_as_fast('clinc150', 200, 1):.1f} times on requests of CLINC150"
    yield f"about {round(times_as_fast('abcnews', 200, 1), -1):.0f} times on news headlines"
    yield f"about {round(times_as_fast('bbcsport', 10_000, 2), -1):.0f} times, two threads"
    ours = row("documents", "clinc150", scorer="newfound")
    peer = best("documents", "clinc150", "AUROC")
    yield f"AUROC {ours['AUROC']:.3f}"
    yield f"{peer['AUROC']:.3f}"
    found = row("themes", "shift", data="CLINC150, 5 times")["topics found"]
    yield f"{percent(found)} %"


QUOTES = {
    "README.md": readme,
    "docs/rules.md": rules_page,
    "docs/themes-method.md": themes_page,
    "docs/detect-figures.md": detection_page,
    "docs/meaning.md": meaning_page,
    "docs/words-method.md": words_page,
    "docs/monitor-method.md": monitor_page,
    "docs/scale-method.md": scale_page,
}


@pytest.mark.parametrize("page", QUOTES)
def test_the_page_quotes_the_kept_figures(page: str) -> None:
    text = " ".join((ROOT / page).read_text("utf-8").split())
    quotes = list(QUOTES[page]())
    missing = [quote for quote in quotes if " ".join(quote.split()) not in text]
    assert len(quotes) > 2 and not missing


def test_every_page_ends_with_its_commit() -> None:
    figures = load_tool("figures")
    for name in figures.COMMANDS:
        made = figures.MADE.search(figures.page_of(name).read_text("utf-8"))
        assert made, name
        assert "not committed" not in made.group(), name


def test_a_page_made_again_has_one_line_of_its_commit(tmp_path: Path) -> None:
    figures = load_tool("figures")
    page = tmp_path / "page.md"
    page.write_text("# A page\n", "utf-8")
    for day in (1, 2):
        figures.say_when(page, f"Made at commit 0123456789ab, 2026-01-0{day}, in 3 s; load 0.1.")
    text = page.read_text("utf-8")
    assert text == "# A page\n\nMade at commit 0123456789ab, 2026-01-02, in 3 s; load 0.1.\n"


def test_every_kept_result_has_a_command_that_exists() -> None:
    figures = load_tool("figures")
    pages = {path.stem for path in RESULTS.glob("*.md")}
    assert pages == set(figures.COMMANDS) - {"reproduce"} | figures.OLDER | figures.CHECKS
    for name in figures.COMMANDS:
        program, first, *others = shlex.split(figures.command_of(name))
        assert program == "python", name
        if [first, *others[:1]] != ["-m", "lab"]:
            assert (ROOT / first).exists(), name
            continue
        found: Any = typer.main.get_command(app)
        for word in others[1:]:
            found = getattr(found, "commands", {}).get(word, found)
        known = {option for one in found.params for option in one.opts}
        assert {word for word in others if word.startswith("--")} <= known, name

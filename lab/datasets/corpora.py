"""Loaders for BBC Sport, 20 Newsgroups, CLINC150 and the headlines of ABC News."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from lab.datasets.corpus import DatasetError, LabelledDocuments, Post, make_corpus
from lab.datasets.dataset import Dataset
from lab.datasets.download import Source
from lab.datasets.layouts import read_json

__all__ = [
    "NEWSGROUPS_PARTS",
    "load_20newsgroups",
    "load_abcnews",
    "load_bbcsport",
    "load_clinc150",
]

NEWSGROUPS_PARTS = ("headers", "footers", "quotes")

_QUOTE = re.compile(r"(writes in|writes:|wrote:|says:|said:|^In article|^Quoted from|^\||^>)")

_BBC = {"athletics": 101, "cricket": 124, "football": 265, "rugby": 147, "tennis": 100}
NEWSGROUPS = {
    "alt.atheism": (480, 319),
    "comp.graphics": (584, 389),
    "comp.os.ms-windows.misc": (591, 394),
    "comp.sys.ibm.pc.hardware": (590, 392),
    "comp.sys.mac.hardware": (578, 385),
    "comp.windows.x": (593, 395),
    "misc.forsale": (585, 390),
    "rec.autos": (594, 396),
    "rec.motorcycles": (598, 398),
    "rec.sport.baseball": (597, 397),
    "rec.sport.hockey": (600, 399),
    "sci.crypt": (595, 396),
    "sci.electronics": (591, 393),
    "sci.med": (594, 396),
    "sci.space": (593, 394),
    "soc.religion.christian": (599, 398),
    "talk.politics.guns": (546, 364),
    "talk.politics.mideast": (564, 376),
    "talk.politics.misc": (465, 310),
    "talk.religion.misc": (377, 251),
}
_CLINC_URL = "https://raw.githubusercontent.com/clinc/oos-eval/828f8093932c8fe6ca7936c3d2e52903b1c523de/data/"


def load_bbcsport(
    path: str | os.PathLike[str] | None = None, *, download: bool = False, verify: bool = True
) -> LabelledDocuments:
    """Load BBC Sport: 737 articles of the BBC's sport pages, 2004 and 2005, in five classes.

    By D. Greene and P. Cunningham, "Practical Solutions to the Problem of Diagonal Dominance in
    Kernel Document Clustering", ICML 2006; http://mlg.ucd.ie/datasets/bbc.html. Terms: all rights
    in the articles belong to the BBC; the set is offered for non-commercial and research use only.

    Parameters
    ----------
    path : path, optional
        The folder ``bbcsport`` with one folder for each class, its .zip or .tar.gz, a .jsonl or
        .jsonl.gz file, or a folder that has one of these. By default ``NEWFOUND_DATA``, then an
        earlier download.
    download : bool, default=False
        Whether to download the data set if there is no copy.
    verify : bool, default=True
        Whether to check the numbers of documents and the hash of the texts.

    Returns
    -------
    LabelledDocuments
        With labels athletics, cricket, football, rugby and tennis.
    """
    posts, source, recoded = BBCSPORT.load(path, download=download, verify=verify)
    return make_corpus(posts, source, recoded)


def load_20newsgroups(
    path: str | os.PathLike[str] | None = None,
    *,
    remove: Iterable[str] = ("headers",),
    download: bool = False,
    verify: bool = True,
) -> LabelledDocuments:
    """Load 20 Newsgroups, "bydate": 18,846 posts of 1993 in 20 groups, split by date.

    Collected by K. Lang, "NewsWeeder: Learning to Filter Netnews", ICML 1995; this version by
    J. Rennie, http://qwone.com/~jason/20Newsgroups. Terms: no formal licence is known; the copy at
    UCI may be used free of charge for any educational purpose, provided attribution is given. The
    posts carry names and addresses of their authors.

    Parameters
    ----------
    path : path, optional
        The folder with ``20news-bydate-train`` and ``20news-bydate-test``, the archive
        ``20news-bydate.tar.gz``, a .jsonl or .jsonl.gz file, or a folder that has one of these. By
        default ``NEWFOUND_DATA``, then an earlier download.
    remove : iterable of {"headers", "footers", "quotes"}, default=("headers",)
        The parts to remove, by the rules of scikit-learn's ``fetch_20newsgroups``. All of them
        reveal the group. Posts that are empty without them are left out.
    download : bool, default=False
        Whether to download the data set if there is no copy.
    verify : bool, default=True
        Whether to check the numbers of documents and the hash of the texts.

    Returns
    -------
    LabelledDocuments
        With the groups as labels, the splits "train" and "test", and dates if the file has them.
    """
    parts = (remove,) if isinstance(remove, str) else tuple(remove)
    unknown = [part for part in parts if part not in NEWSGROUPS_PARTS]
    if unknown:
        expected = ", ".join(NEWSGROUPS_PARTS)
        raise ValueError(f"remove has {unknown[0]!r}; expected some of {expected}.")
    posts, source, recoded = _20NEWSGROUPS.load(path, download=download, verify=verify)
    stripped = (post._replace(text=strip_post(post.text, parts)) for post in posts)
    return make_corpus(stripped, source, recoded)


def load_clinc150(
    path: str | os.PathLike[str] | None = None, *, download: bool = False, verify: bool = True
) -> LabelledDocuments:
    """Load CLINC150, "full": 23,700 requests to an assistant, 150 intents and out-of-scope ones.

    By S. Larson et al., "An Evaluation Dataset for Intent Classification and Out-of-Scope
    Prediction", EMNLP-IJCNLP 2019; https://github.com/clinc/oos-eval. Terms: Creative Commons
    Attribution 3.0 Unported.

    Parameters
    ----------
    path : path, optional
        The file ``data_full.json`` (with ``domains.json`` beside it, for the domains), a
        .jsonl or .jsonl.gz file, or a folder that has one of these. By default ``NEWFOUND_DATA``,
        then an earlier download.
    download : bool, default=False
        Whether to download the data set if there is no copy.
    verify : bool, default=True
        Whether to check the numbers of documents and the hash of the texts.

    Returns
    -------
    LabelledDocuments
        With the intents as labels ("oos": out of scope), the splits "train", "val" and "test", and
        the domain of each intent.
    """
    posts, source, recoded = _CLINC150.load(path, download=download, verify=verify)
    return make_corpus(posts, source, recoded)


def load_abcnews(
    path: str | os.PathLike[str] | None = None, *, verify: bool = True
) -> LabelledDocuments:
    """Load headlines of ABC News: 74,399 dated headlines from 2003-02-19 to 2004-02-24.

    The first year of "A Million News Headlines" (Australian Broadcasting Corporation), compiled by
    R. Kulkarni, https://doi.org/10.7910/DVN/SYBGZL. Terms: CC0 1.0. Headlines are in lower case, in
    the order of their dates, about 200 a day, without labels.

    Parameters
    ----------
    path : path, optional
        A .jsonl or .jsonl.gz file with ``id``, ``text`` and ``date``, or a folder that has
        ``abcnews.jsonl.gz``. By default ``NEWFOUND_DATA``.
    verify : bool, default=True
        Whether to check the number of documents and the hash of dates and texts.

    Returns
    -------
    LabelledDocuments
        With dates, such as "2003-02-19"; `labels` is None.
    """
    posts, source, recoded = _ABCNEWS.load(path, download=False, verify=verify)
    return make_corpus(posts, source, recoded)


def strip_post(text: str, remove: Iterable[str]) -> str:
    r"""Return a post without headers, footers or quotes, by the rules of scikit-learn.

    Headers end at the first blank line. Quotes are lines that begin with > or |, and lines that
    introduce a quotation. The footer follows the last blank line or line of hyphens.

    Examples
    --------
    >>> strip_post("From: a\n\nB writes:\n> Hello\nHi!\n\n-- \nA", ("headers", "quotes"))
    'Hi!\n\n-- \nA'
    >>> strip_post("From: a\n\nHi!\n--\nA", ("headers", "footers"))
    'Hi!'
    """
    if "headers" in remove:
        text = text.partition("\n\n")[2]
    if "footers" in remove:
        lines = text.strip().split("\n")
        breaks = [number for number, line in enumerate(lines) if not line.strip().strip("-")]
        if breaks and breaks[-1] > 0:
            text = "\n".join(lines[: breaks[-1]])
    if "quotes" in remove:
        text = "\n".join(line for line in text.split("\n") if not _QUOTE.search(line))
    return text


def bbc_post(match: re.Match[str], raw: bytes) -> tuple[Post, bool]:
    try:
        text, recoded = raw.decode(), False
    except UnicodeDecodeError:  # football/105 has one Latin-1 pound sign
        text, recoded = raw.decode("latin-1"), True
    return Post(f"{match[1]}/{match[2]}", text, match[1]), recoded


def _newsgroups_post(match: re.Match[str], raw: bytes) -> tuple[Post, bool]:
    split, group, number = match.groups()
    return Post(f"{group}/{number}", raw.decode("latin-1"), group, split), False


def _clinc(path: Path) -> Iterator[Post]:
    whole = read_json(path)
    beside = path.with_name("domains.json")
    domains = {"oos": "oos"}
    try:
        if beside.is_file():
            domains |= {
                intent: domain
                for domain, intents in read_json(beside).items()
                for intent in intents
            }
        for key, rows in whole.items():
            for number, (text, label) in enumerate(rows):
                split, domain = key.removeprefix("oos_"), domains.get(label, "")
                yield Post(f"{key}/{number:05}", str(text), str(label), split, domain)
    except (AttributeError, TypeError, ValueError) as error:
        raise DatasetError(f"{path} is not laid out as CLINC150 is.") from error


def _clinc_counts(posts: Iterable[Post]) -> dict[tuple[str, str], int]:
    """Return the expected counts: 150 intents of any name, and the out-of-scope requests."""
    intents = sorted({post.label for post in posts} - {"oos"})[:150]
    names = intents + [f"intent {number}" for number in range(len(intents) + 1, 151)]
    counts = {
        (split, name): n
        for split, n in (("train", 100), ("val", 20), ("test", 30))
        for name in names
    }
    return counts | {("train", "oos"): 100, ("val", "oos"): 100, ("test", "oos"): 1000}


BBCSPORT = Dataset(
    name="bbcsport",
    download_command="python -m lab reproduce bbcsport --download",
    title="BBC Sport",
    sources=(
        Source(
            "bbcsport-fulltext.zip", ("http://mlg.ucd.ie/files/datasets/bbcsport-fulltext.zip",)
        ),
    ),
    content="21405e0a34cb3efce27ff5b42bbd8f22811fb381805dc2b5b72cc55ec3bd4876",
    counts=lambda _: {("", label): n for label, n in _BBC.items()},
    member=re.compile(rf"/({'|'.join(_BBC)})/(\d{{3}})\.txt$"),
    archives=("bbcsport-fulltext.zip", "bbcsport-raw.tar.gz", "bbcsport.tar.gz", "bbcsport.zip"),
    post=bbc_post,
)
_20NEWSGROUPS = Dataset(
    name="20newsgroups",
    download_command="python -m lab reproduce 20newsgroups --download",
    title="20 Newsgroups",
    sources=(
        Source(
            "20news-bydate.tar.gz",
            (
                "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
                "https://ndownloader.figshare.com/files/5975967",  # scikit-learn's
            ),
            # From sklearn/datasets/_twenty_newsgroups.py of scikit-learn 1.9.
            "8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
        ),
    ),
    content="d0f232b38ee9b4b7fd0320b163cdbb65408f223fe756e7b75ed26604b88ade39",
    counts=lambda _: {
        (split, group): n
        for group, numbers in NEWSGROUPS.items()
        for split, n in zip(("train", "test"), numbers, strict=True)
    },
    member=re.compile(
        rf"/20news-bydate-(train|test)/({'|'.join(map(re.escape, NEWSGROUPS))})/(\d+)$"
    ),
    archives=("20news-bydate.tar.gz",),
    post=_newsgroups_post,
)
_CLINC150 = Dataset(
    name="clinc150",
    title="CLINC150",
    sources=(
        Source("data_full.json", (f"{_CLINC_URL}data_full.json",)),
        Source("domains.json", (f"{_CLINC_URL}domains.json",)),
    ),
    content="0f472bd31fd6ee1044e542c6662380367cc6e1f53b7054cfd247e78937fc8a90",
    counts=_clinc_counts,
    json_file="data_full.json",
    json_posts=_clinc,
)
_ABCNEWS = Dataset(
    name="abcnews",
    title="ABC News",
    sources=(),  # the original has other years too, and is offered as a page, not as a file
    content="b5386af812e060a79d353dccc235d710b7689471f9d51e6f6889583126ed9092",
    counts=lambda _: {("", ""): 74_399},
    required=("id", "text", "date"),
)

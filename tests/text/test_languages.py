"""Texts of many languages: their words and offsets, their function words, their lemmas."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet
from simplemma.strategies.dictionaries.dictionary_factory import SUPPORTED_LANGUAGES

from newfound import NoveltyDescriber, NoveltyDetector, TextVectorizer
from newfound.text.lemmas import lemmatize, noticed_language
from newfound.text.tokens import stop_words, tokenize

SENTENCES: dict[str, list[str]] = json.loads(
    (Path(__file__).resolve().parents[1] / "data" / "sentences.json").read_text("utf-8")
)

# Words that a reader of the language expects from the sentences, and function words that are not.
EXPECTED = {
    "ar": ("حكومة كتاب فريق مدينة", "في من هذا لا التي"),
    "de": ("verein spiel haus stadt regierung fehler", "der die und nicht vereinen spielen über"),
    "es": ("gobierno niño empresa ciudad ley", "el la los con no sobre"),
    "fi": ("hallitus lapsi kaupunki talo", "ja on ei mutta se"),
    "fr": ("gouvernement école équipe enfant ville orléans", "le la qu'il n'y de d'orléans"),
    "hi": ("सरकार योजना बच्चा शहर", "ने में के है नहीं"),
    "hu": ("kormány csapat város ház", "a az és nem ez"),
    "it": ("governo squadra bambino scuola arte energia", "il la dell'arte sull'energia non"),
    "ja": ("日本 代表 サッカー 試合 政府 台風", "の は が を で"),
    "ko": ("정부는 축구 서울에 태풍이", "있다"),
    "nl": ("regering kind stad huis land", "de het een van niet geen"),
    "pl": ("rząd drużyna dziecko miasto szkoła", "i w nie to do które"),
    "pt": ("governo criança empresa cidade lei", "o a os não com nos"),
    "ru": ("правительство команда школа город дом", "и в не что на"),
    "sv": ("regering barn stad hus", "och det är en i"),
    "th": ("ไทย", ""),
    "tr": ("hükümet takım çocuk şehir okul", "ve bir bu için çok"),
    "uk": ("уряд команда школа місто", "і в не що на про"),
    "zh": ("中国 足球 北京 奥运 政府 经济 台风", ""),
}


# Reading the dictionaries of these takes longer than that of all others together.
LARGE = {"fi", "hu", "pl", "pt", "ru", "sv", "tr", "uk"}


def languages(chosen: Iterable[str]) -> list[ParameterSet]:
    return [
        pytest.param(one, marks=pytest.mark.slow if one in LARGE else ()) for one in sorted(chosen)
    ]


@pytest.mark.parametrize("language", languages(EXPECTED))
def test_words_are_those_that_a_reader_expects(language: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = TextVectorizer(language=language).fit(SENTENCES[language]).vocabulary_
    expected, left_out = EXPECTED[language]
    assert set(expected.split()) <= set(found)
    assert not set(left_out.split()) & set(found)


@pytest.mark.parametrize("language", languages(SENTENCES))
def test_every_word_points_into_the_text(language: str) -> None:
    vectorizer = TextVectorizer(language=language, ngram_range=(1, 2)).fit(SENTENCES[language])
    for text in SENTENCES[language]:
        for token in vectorizer.tokens(text):
            assert token.surface == text[token.start : token.end]
            assert token.surface.strip() == token.surface and token.index >= 0
        letters = "".join(c for c in text if c.isalnum())
        covered = {i for token in tokenize(text) for i in range(token.start, token.end)}
        assert letters == "".join(c for i, c in enumerate(text) if c.isalnum() and i in covered)


@pytest.mark.parametrize("language", languages(set(SENTENCES) - {"en"}))
@pytest.mark.parametrize("stop", ["default", None])
def test_another_language_is_noticed_and_said(language: str, stop: str | None) -> None:
    message = rf"pass language='{language}' \(--language {language}\)"
    with pytest.warns(UserWarning, match=message):
        TextVectorizer(stop_words=stop).fit(SENTENCES[language] * 3)


FRENCH = tuple(
    "le la les des une est sont dans pour avec que qui ne pas sur par plus ou".split()  # noqa: SIM905
)


def test_long_documents_in_another_language_are_noticed() -> None:
    # Each word counts once in a document, so function words are a small share of many others.
    others = [f"terme{number}" for number in range(400)]
    long = [" ".join([*FRENCH, *others[place::2]]) for place in range(2)] * 5
    with pytest.warns(UserWarning, match=r"look French.*\(--language fr\)"):
        TextVectorizer().fit(long)


def test_a_few_foreign_documents_among_long_english_ones_are_not_noticed(
    recwarn: pytest.WarningsRecorder,
) -> None:
    others = " ".join(f"word{number}" for number in range(400))
    TextVectorizer().fit([*[others] * 6, *[" ".join([*FRENCH, others])] * 4])
    assert not recwarn.list


def test_one_long_document_that_quotes_another_language_is_not_noticed(
    recwarn: pytest.WarningsRecorder,
) -> None:
    others = " ".join(f"word{number}" for number in range(400))
    TextVectorizer().fit([" ".join([*FRENCH, others])])
    assert not recwarn.list


def test_english_is_not_mistaken(recwarn: pytest.WarningsRecorder) -> None:
    for stop in ("default", None):
        TextVectorizer(stop_words=stop).fit(SENTENCES["en"] * 3)
    assert not recwarn.list
    assert noticed_language({"die": 20, "band": 20, "album": 20, "song": 20}) is None
    assert noticed_language({"der": 3, "und": 2}) is None  # too few words to tell


def test_a_script_tells_the_language_where_function_words_are_joined_to_others() -> None:
    arabic = "خسر الفريق المباراة أمس يتدرب اللاعبون اليوم أقرت الحكومة قانونا جديدا البرلمان"
    hebrew = "הממשלה אישרה חוק חדש הכנסת דנה בתקציב הקבוצה הפסידה במשחק אתמול"
    for code, text in (("ar", arabic), ("he", hebrew)):
        assert noticed_language(dict.fromkeys(text.split(), 9)) == code
        some = dict.fromkeys(text.split()[:4], 9)
        assert (
            noticed_language({**some, **dict.fromkeys(["dog", "cat", "house", "bite", "town"], 9)})
            is None
        )


def test_the_language_is_noticed_by_describer_and_detector() -> None:
    texts = SENTENCES["de"] * 10
    with pytest.warns(UserWarning, match="look German"):
        NoveltyDetector(n_clauses=2, epochs=1).fit(texts)
    made = NoveltyDescriber(n_machines=1, n_clauses=2, epochs=1, fold_copies=False)
    with pytest.warns(UserWarning, match="look German"):
        made.fit([*texts, *SENTENCES["nl"] * 3], ["known"] * 50 + ["novel"] * 15)


# function words


def test_languages_with_lemmas_have_function_words() -> None:
    without = {"enm", "grc", "gv", "ml"}  # Middle English, Ancient Greek, Manx, Malayalam
    for language in sorted(SUPPORTED_LANGUAGES - without):
        assert len(stop_words(language)) >= 25, language
    for language in sorted(without):
        with pytest.warns(UserWarning, match=rf"no list for '{language}'.*--stop-words FILE"):
            assert stop_words(language) == frozenset()


# lemmas


def test_german_nouns_keep_their_lemma() -> None:
    assert lemmatize("verein", language="de") == "verein"
    texts = ["Wir sahen die Spiele der Vereine.", "Ich spiele gern, und wir vereinen Menschen."]
    vectorizer = TextVectorizer(language="de").fit(texts)
    assert {"spiel", "verein"} <= set(vectorizer.vocabulary_)
    assert vectorizer.term("vereinen") == "vereinen"
    once = TextVectorizer(language="de").fit(texts[1:])
    assert "spielen" in once.vocabulary_ and "mensch" in once.vocabulary_


def test_german_in_lower_case_has_no_verbs_for_nouns() -> None:
    found = TextVectorizer(language="de").fit(["der verein feiert den sieg zur rechten zeit"])
    assert {"verein", "sieg", "zeit"} <= set(found.vocabulary_)


def test_elided_articles_are_left_out() -> None:
    found = TextVectorizer(language="fr").fit(["L'équipe d'Orléans, qu'il n'aime pas"])
    assert set(found.vocabulary_) == {"équipe", "orléans", "aimer"}


def test_a_language_without_a_dictionary_needs_no_option() -> None:
    assert lemmatize("日本", language="ja") == "日本"
    with pytest.raises(
        ValueError, match=r"'tlh' has no lemmas; .*zh, or lemmatize=False \(--no-lem"
    ):
        lemmatize("tlhIngan", language="tlh")


@pytest.mark.parametrize(
    ("given", "code"), [("french", "fr"), ("German", "de"), ("de-AT", "de"), ("pt_BR", "pt")]
)
def test_the_name_of_a_language_gets_its_code(given: str, code: str) -> None:
    with pytest.raises(ValueError, match=rf"'{given}' is not the code .*\(--language {code}\)"):
        lemmatize("word", language=given)


# scripts without spaces, and emoji


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("日本代表2024", "日本 本代 代表 2024"),
        ("東京タワーへ行きました", "東京 タワー へ 行 きました"),
        ("ｻｯｶｰ", "サッカー"),
        ("iPhoneを買った", "iphone を 買 った"),
        ("she's-日本_x", "she's 日本 x"),
        ("々", "々"),
        ("ประเทศไทย", "ประ ระเท เทศ ศไท ไทย"),
        ("한국어 문장", "한국어 문장"),
    ],
)
def test_scripts_without_spaces_are_cut(text: str, words: str) -> None:
    assert [token.term for token in tokenize(text)] == words.split()


def test_a_long_run_of_chinese_is_not_taken_for_encoded_data() -> None:
    assert len(tokenize("中国队在足球比赛中获胜" * 20)) == 219


def test_emoji_are_words() -> None:
    text = "Great match 👍🏽👍 ❤️! 👩\u200d🚀 in 🇳🇴🇸🇪 #1"
    found = [(token.term, token.surface) for token in tokenize(text)]
    assert found == [
        ("great", "Great"), ("match", "match"), ("👍", "👍🏽"), ("👍", "👍"), ("❤", "❤️"),
        ("👩\u200d🚀", "👩\u200d🚀"), ("in", "in"), ("🇳🇴", "🇳🇴"), ("🇸🇪", "🇸🇪"), ("1", "1"),
    ]  # fmt: skip
    vectorizer = TextVectorizer().fit([text, "👍"])
    assert vectorizer.transform(["thanks 👍🏿"]).sum() == 1
    assert "©" not in TextVectorizer().fit(["© 2024 ™ word"]).vocabulary_


def test_emoji_that_are_new_are_described() -> None:
    known = [f"good morning to {name}" for name in ("ann", "bob", "cy", "dee", "eve")] * 4
    novel = [f"{text} 🎉" for text in known]
    describer = NoveltyDescriber(
        n_machines=2, n_clauses=10, T=5, epochs=3, fold_copies=False, random_state=0
    ).fit(known + novel, ["known"] * 20 + ["novel"] * 20)
    assert describer.words_["word"][0] == "🎉"

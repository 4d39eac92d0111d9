"""Every estimator as scikit-learn uses it: its own checks, clones, pickles, pipelines, searches."""

import io
import pickle

import joblib
import numpy as np
import pytest
from scipy.sparse import isspmatrix_csr
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, check_cv, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted, validate_data

import newfound
from newfound import NoveltyDescriber, NoveltyDetector, TextVectorizer, TsetlinMachineClassifier


@pytest.fixture(scope="module")
def sample():
    known, novel = newfound.load_sample()
    return list(known.texts[::2]), np.array(known.labels[::2]), list(novel.texts[::2])


@pytest.fixture(scope="module")
def detector(sample):
    return NoveltyDetector(random_state=1, n_clauses=10, epochs=3).fit(*sample[:2])


@pytest.fixture(scope="module")
def sides(sample):
    known, _, novel = sample
    texts = [*known[:80], *novel[:80]]
    return texts, np.repeat(["known", "novel"], 80)


@pytest.fixture(scope="module")
def describer(sides):
    return NoveltyDescriber(n_machines=3, n_clauses=60, T=20, epochs=3, random_state=1).fit(*sides)


# scikit-learn's checks. They pass numbers, so that each number becomes a word here: the
# number 0.7 in the fourth column is the word f3x1.


def words(estimator, X, *, reset):
    X = validate_data(estimator, X, reset=reset, dtype=np.float64)
    return [
        " ".join(f"f{j}x{round(number)}".replace("-", "m") for j, number in enumerate(row))
        for row in X.tolist()
    ]


class Numbers:
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = False, True
        return tags


class DetectorOfNumbers(Numbers, NoveltyDetector):
    def fit(self, X, y=None):
        return super().fit(words(self, X, reset=True), y)

    def partial_fit(self, X, y=None, classes=None):
        first = not self.__sklearn_is_fitted__()
        texts = words(self, X, reset=first)
        return NoveltyDetector.fit(self, texts, y) if first else super().partial_fit(texts, y)

    def score_texts(self, X):
        check_is_fitted(self)
        return super().score_texts(words(self, X, reset=False))

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(words(self, X, reset=False))

    def predict(self, X):
        """Return numbers where the classes are numbers, -1 for novel."""
        found = super().predict(X)
        if self.classes_.dtype.kind in "if":
            return np.array([-1 if label in ("novel", None) else label for label in found])
        return found


class DescriberOfNumbers(Numbers, NoveltyDescriber):
    """Of two classes of any names, the second is novel."""

    def fit(self, X, y):
        texts = words(self, X, reset=True)
        if y is None:
            return super().fit(texts, y)
        self.of_sides_, codes = np.unique(np.asarray(y), return_inverse=True)
        super().fit(texts, codes)
        self.classes_ = self.of_sides_
        return self

    partial_fit = property()  # that of one class alone, which the checks begin with, is refused

    def predict(self, X):
        check_is_fitted(self)
        found = super().predict(words(self, X, reset=False))
        return self.of_sides_[(found == "novel").astype(int)]

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(words(self, X, reset=False))

    def score(self, X, y):
        return float(np.mean(self.predict(X) == np.asarray(y)))


class VectorizerOfNumbers(Numbers, TextVectorizer):
    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        return super().fit_transform(words(self, X, reset=True))

    def transform(self, X):
        check_is_fitted(self)
        return super().transform(words(self, X, reset=False))


# What is left out, and why.
_WORDING = "refused with a sentence of our own"
_OPEN = "expects that every text gets a known class, and that decision_function tells which one"
_ANY_LABEL = "labels of any kind are classes, also fractions and infinity"
LEFT_OUT = {
    "DetectorOfNumbers": {
        "check_classifiers_one_label": _OPEN,
        "check_classifiers_classes": _OPEN,
        "check_classifiers_train": _OPEN,
        "check_classifiers_regression_target": _ANY_LABEL,
        "check_supervised_y_no_nan": _ANY_LABEL,
        "check_supervised_y_2d": _WORDING,
        "check_fit2d_1sample": _WORDING,
    },
    "DescriberOfNumbers": {
        "check_classifiers_one_label": "a description compares two sides",
        "check_classifiers_regression_target": _WORDING,
        "check_classifier_not_supporting_multiclass": _WORDING,
        "check_supervised_y_2d": _WORDING,
        "check_fit2d_1sample": _WORDING,
        "check_requires_y_none": _WORDING,
    },
    "VectorizerOfNumbers": {"check_dict_unchanged": "it remembers the words that it has met"},
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        DetectorOfNumbers(alpha=0.3, n_clauses=10, epochs=2, random_state=0),
        DescriberOfNumbers(n_machines=2, n_clauses=20, T=5, epochs=2, random_state=0),
        VectorizerOfNumbers(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_passes_the_checks_of_scikit_learn_that_apply_to_texts(estimator):
    results = check_estimator(estimator, on_fail=None)
    failed = {r["check_name"] for r in results if r["status"] == "failed"}
    assert failed <= set(LEFT_OUT[type(estimator).__name__])
    assert sum(r["status"] == "passed" for r in results) > 40


# copies


def joblib_copy(estimator):
    file = io.BytesIO()
    joblib.dump(estimator, file)
    file.seek(0)
    return joblib.load(file)


COPIES = [lambda estimator: pickle.loads(pickle.dumps(estimator)), joblib_copy]


@pytest.mark.parametrize("copied", COPIES)
def test_a_fitted_detector_can_be_pickled_and_goes_on_the_same(detector, sample, copied):
    known, labels, novel = sample
    texts = [*known[:20], *novel[:20]]
    detector.detect(texts)  # caches, and functions in them, are made on the way
    detector.explain(novel[0])
    twin = copied(detector)
    assert np.array_equal(twin.novelty(texts), detector.novelty(texts))
    assert twin.explain(novel[0]).to_dict() == detector.explain(novel[0]).to_dict()
    both = [one.partial_fit(known[:20], labels[:20]) for one in (copied(twin), copied(detector))]
    assert np.array_equal(*(one.novelty(novel[:9]) for one in both))
    assert not hasattr(clone(twin), "classes_")


@pytest.mark.parametrize("copied", COPIES)
def test_a_table_of_novel_documents_can_be_pickled_with_its_explanations(detector, sample, copied):
    found = detector.detect(sample[2][:30], describe=False).novel()
    twin = copied(found)
    assert twin == found and twin.alpha == found.alpha
    assert twin.explain(3).to_dict() == found.explain(3).to_dict()


@pytest.mark.parametrize("copied", COPIES)
def test_a_fitted_describer_can_be_pickled_after_use(describer, sides, copied):
    word = describer.words_["word"][0]
    describer.explain(sides[0][0]), describer.context(word), describer.senses(word)
    assert describer.themes_ is not None
    twin = copied(describer)
    assert twin.words_ == describer.words_
    assert [str(theme) for theme in twin.themes_] == [str(theme) for theme in describer.themes_]
    assert twin.predict(sides[0]).tolist() == describer.predict(sides[0]).tolist()
    assert twin.context(word).to_dict() == describer.context(word).to_dict()
    assert not hasattr(clone(twin), "words_")


# features


def test_the_features_of_a_detector_add_up_to_the_novelty(detector, sample):
    texts = [*sample[0][:40], *sample[2][:40], "zyxw vuts pay", "?!", ""]
    found, names = detector.transform(texts), detector.get_feature_names_out()
    assert isspmatrix_csr(found) and found.shape == (len(texts), len(names))
    assert len(set(names)) == len(names) and names[-2:].tolist() == ["(unseen words)", "(baseline)"]
    assert np.asarray(found.sum(axis=1)).ravel() == pytest.approx(detector.novelty(texts))
    column = {name: j for j, name in enumerate(names)}
    dense = found.toarray()
    for text, row in zip(texts, dense, strict=True):
        verdict = detector.explain(text)
        unseen = sum(word.contribution for word in verdict.words if word.word not in column)
        assert row[column["(unseen words)"]] == pytest.approx(unseen)
        for word in verdict.words:
            if word.word in column:
                assert row[column[word.word]] == word.contribution
    assert abs(dense[:-2, -1]).max() < 1e-9 < abs(dense[-1, -1])


def test_the_features_of_a_describer_add_up_to_the_log_odds(describer, sides):
    texts = [*sides[0][::4], "zyxw", ""]
    found, names = describer.transform(texts), describer.get_feature_names_out()
    assert isspmatrix_csr(found) and found.shape == (len(texts), len(names))
    assert len(set(names)) == len(names) and names[-2:].tolist() == ["(rules)", "(baseline)"]
    column = {name: j for j, name in enumerate(names)}
    for text, row in zip(texts, found.toarray(), strict=True):
        told = describer.explain(text)
        for word, value in told.contributions.items():
            assert row[column[word]] == value
        if not np.isnan(told.probability):
            assert 1 / (1 + np.exp(-row.sum())) == pytest.approx(told.probability)
    assert found[-2:].nnz == 0
    assert np.array_equal(describer.description_.transform(texts).toarray(), found.toarray())


def test_a_describer_that_held_nothing_out_gives_the_scores_of_words():
    describer = NoveltyDescriber(n_machines=1, n_clauses=20, T=5, epochs=2, random_state=1)
    texts = ["wicket over"] * 6 + ["try over"] * 6
    describer.fit(texts, [0] * 6 + [1] * 6)
    names, scores = describer.get_feature_names_out().tolist(), describer.words_
    (row,) = describer.transform(["try zyxw"]).toarray()
    score = scores["score"][scores["word"].tolist().index("try")]
    assert row[names.index("try")] == pytest.approx(np.log(score)) and np.count_nonzero(row) == 1


@pytest.mark.parametrize("kind", ["detector", "describer"])
@pytest.mark.filterwarnings("ignore:.* no words left after cleaning")
def test_scores_are_features_of_other_models_in_a_pipeline(kind, request, sides):
    texts, labels = sides
    estimator = clone(request.getfixturevalue(kind))
    model = make_pipeline(estimator, LogisticRegression(max_iter=500))
    model.set_output(transform="default")
    model.fit(texts[::2], (labels == "novel")[::2])
    assert model.score(texts[1::2], (labels == "novel")[1::2]) > 0.8
    names = model[:-1].get_feature_names_out()
    assert len(names) == model[-1].coef_.shape[1]
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(texts), model.predict(texts))
    assert not hasattr(clone(model)[0], "classes_")
    framed = pickle.loads(pickle.dumps(model[0])).set_output(transform="pandas")
    with pytest.raises(ValueError, match="sparse"):  # scikit-learn makes no frame of it
        framed.transform(texts)


# alpha after fit


def test_alpha_can_be_changed_after_fit(detector, sample):
    known, labels, novel = sample
    texts = [*known, *novel]
    twin = pickle.loads(pickle.dumps(detector))
    strict = twin.predict(texts)
    before = twin.detect(texts, describe=False, group=False)
    twin.set_params(alpha=0.3)
    loose = twin.predict(texts)
    assert (loose == "novel").sum() > (strict == "novel").sum()
    again = NoveltyDetector(0.3, random_state=1, n_clauses=10, epochs=3)
    aside = list(detector.held_back_texts_)
    assert len(aside) > 19
    learned = [i for i, text in enumerate(known) if text not in set(aside)]
    again.fit([known[i] for i in learned], labels[learned], held_back=aside)
    if len(learned) + len(aside) == len(known):  # otherwise a text is there twice
        assert loose.tolist() == again.predict(texts).tolist()
    assert twin.explain(novel[0]).alpha == 0.3
    assert before.alpha == 0.05 and twin.detect(texts[:9], describe=False).alpha == 0.3
    twin.alpha = 0.05
    assert twin.predict(texts).tolist() == strict.tolist()


def test_an_alpha_that_the_held_back_documents_do_not_allow_is_refused(detector, sample):
    twin = pickle.loads(pickle.dumps(detector)).set_params(alpha=0.0001)
    with pytest.raises(ValueError, match=r"alpha=0.0001 needs at least 9,999 held-back"):
        twin.predict(sample[2])
    with pytest.raises(ValueError, match="between 0 and 1"):
        twin.set_params(alpha=2.0).predict(sample[2])


# scores


def test_scores_have_the_signs_of_scikit_learns_outlier_detectors(detector, sample):
    known, _, novel = sample
    texts = [*known, *novel, "?!"]
    called_novel = detector.predict(texts) == "novel"
    assert np.array_equal(detector.decision_function(texts) < 0, called_novel)
    assert np.array_equal(detector.score_samples(texts), -detector.novelty(texts))
    is_known = np.arange(len(texts) - 1) < len(known)
    assert roc_auc_score(is_known, detector.score_samples(texts[:-1])) > 0.9
    assert detector.decision_function(["?!"])[0] >= 0


def test_score_is_the_accuracy_and_a_false_alarm_is_an_error(detector, sample):
    known, labels, novel = sample
    predicted = detector.predict(known)
    assert detector.score(known, labels) == np.mean(
        [a == b for a, b in zip(predicted, labels, strict=True)]
    )
    assert detector.score(novel, ["novel"] * len(novel)) > 0.7
    assert detector.score(known) == 1 - np.mean(predicted == "novel")
    assert detector.score(known[:2], ["none", "none"], sample_weight=[1, 2]) == 0
    with pytest.raises(ValueError, match="1 labels for 2 texts"):
        detector.score(known[:2], ["a"])


# pipelines and searches


def test_folds_are_stratified_where_there_are_labels(detector, describer, sample):
    assert is_classifier(detector) and is_classifier(describer)
    folds = check_cv(3, sample[1], classifier=is_classifier(detector))
    assert isinstance(folds, StratifiedKFold)


def test_a_detector_is_cross_validated_and_searched(sample):
    known, labels, _ = sample
    made = NoveltyDetector(n_clauses=4, epochs=1, random_state=0)
    scores = cross_val_score(made, known, labels, cv=3, error_score="raise")
    assert (scores > 0.7).all()
    folds = KFold(2, shuffle=True, random_state=0)  # the sample is sorted by its labels
    assert (cross_val_score(made, known, cv=folds, error_score="raise") > 0.9).all()
    search = GridSearchCV(made, {"alpha": [0.05, 0.5]}, cv=2, error_score="raise")
    assert search.fit(known, labels).best_params_ == {"alpha": 0.05}
    in_pipeline = make_pipeline(made).fit(known, labels)
    assert in_pipeline.score(known, labels) > 0.8
    assert in_pipeline.decision_function(known[:3]).shape == (3,)


@pytest.mark.filterwarnings("ignore:.*no words left after cleaning")
def test_a_describer_is_cross_validated_and_searched(sides):
    texts, labels = sides
    made = NoveltyDescriber(n_machines=2, n_clauses=40, T=10, epochs=2, random_state=0)
    folds = StratifiedKFold(2, shuffle=True, random_state=0)
    for y in (labels, (labels == "novel").astype(int)):
        scores = cross_val_score(made, texts, y, cv=folds, error_score="raise")
        assert (scores > 0.7).all()
    search = GridSearchCV(make_pipeline(made), {"noveltydescriber__T": [10]}, cv=2)
    assert search.fit(texts, labels).score(texts, labels) > 0.8


def test_a_machine_and_a_vectorizer_are_cross_validated_and_searched(sides):
    texts, labels = sides
    machine = TsetlinMachineClassifier(n_clauses=60, T=10, epochs=5, random_state=0)
    pipeline = make_pipeline(TextVectorizer(), machine)
    assert (cross_val_score(pipeline, texts, labels, cv=2, error_score="raise") > 0.7).all()
    grid = {"textvectorizer__min_df": [1, 2], "tsetlinmachineclassifier__T": [5, 10]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(texts, labels)
    assert search.score(texts, labels) > 0.9
    twin = pickle.loads(pickle.dumps(search.best_estimator_))
    assert twin.predict(texts).tolist() == search.predict(texts).tolist()
    linear = make_pipeline(TextVectorizer(ngram_range=(1, 2)), LogisticRegression())
    assert clone(linear).fit(texts, labels).score(texts, labels) > 0.9

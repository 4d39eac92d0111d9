"""What programs send, as pydantic checks it and OpenAPI shows it, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from newfound.text.dates import unit_or_column

__all__ = [
    "MEDIA_TYPE",
    "Body",
    "ColumnsRequest",
    "DescribeParameters",
    "DescribeRequest",
    "DetectRequest",
    "EmptyRequest",
    "ExplainRequest",
    "Input",
    "MergeRequest",
    "MonitorDocument",
    "MonitorDocumentsRequest",
    "MonitorRequest",
    "Problem",
    "PromoteRequest",
    "ScoreRequest",
    "SignInRequest",
    "invalid",
    "json_body",
    "problem_data",
    "problem_response",
    "schema_of",
    "texts_of",
]

MEDIA_TYPE = "application/problem+json"
_SHOWN = 20  # defects of a request


class Problem(HTTPException):
    """An error that is reported to the caller."""

    def __init__(
        self,
        status: int,
        detail: str,
        headers: Mapping[str, str] | None = None,
        errors: list[dict[str, str]] | None = None,
    ) -> None:
        super().__init__(status, detail, None if headers is None else dict(headers))
        self.errors = errors


def invalid(error: ValidationError, schema: Mapping[str, Any]) -> Problem:
    """Return the problem of a body that is not what its JSON Schema says."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    defects = [
        {
            "place": "/" + "/".join(map(str, defect["loc"])),
            "detail": _unknown(defect["loc"], schema)
            if defect["type"] == "extra_forbidden"
            else defect["msg"],
        }
        for defect in found[:_SHOWN]
    ]
    malformed = any(defect["type"] == "json_invalid" for defect in found)
    first = f"{defects[0]['place']}: {defects[0]['detail']}" if defects[0]["place"] != "/" else ""
    detail = "The body is not JSON" if malformed else "The body is not what the schema says"
    return Problem(
        400 if malformed else 422, f"{detail}; {first or defects[0]['detail']}.", errors=defects
    )


def _unknown(place: tuple[int | str, ...], schema: Mapping[str, Any]) -> str:
    """Return that there is no field at a place of a body, and which ones there are."""
    definitions, here = schema.get("$defs", {}), schema
    for part in place[:-1]:
        inner = here.get("properties", {}).get(part) if isinstance(part, str) else here.get("items")
        here = _definition(inner or {}, definitions)
    names = ", ".join(here.get("properties", {}))
    return f"There is no such field; there are {names}" if names else "There is no such field"


def _definition(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a schema without its reference, and without null where that is the other choice."""
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    found = choices[0] if choices else schema
    name = str(found.get("$ref", "")).rpartition("/")[2]
    return definitions.get(name, found)  # type: ignore[no-any-return]


def problem_data(status: int, detail: str, errors: Any = None) -> dict[str, Any]:
    """Return the plain data of a problem.

    Examples
    --------
    >>> problem_data(404, "There is no model x.")["title"]
    'Not Found'
    """
    data = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return data if errors is None else {**data, "errors": errors}


def problem_response(
    status: int, detail: str, headers: Mapping[str, str] | None = None, errors: Any = None
) -> Response:
    """Return a problem as an answer."""
    content = json.dumps(problem_data(status, detail, errors)).encode()
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)


Checked = TypeVar("Checked", bound="Body")
Text = Annotated[str, Field(max_length=250_000)]
Alpha = Annotated[
    float | None,
    Field(gt=0, lt=1, description="False-alarm rate of the verdicts; by default the detector's."),
]
Redact = Field(
    None,
    description="Replace numbers, e-mail addresses and URLs before anything is learned or kept.",
)
ModelId = Annotated[str, Field(max_length=64, description="Id of a model of GET /v1/models.")]


class Body(BaseModel):
    """A body with the fields that are named, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ScoreRequest(Body):
    """Texts to score with a model."""

    model: ModelId
    text: Text | None = Field(None, description="One text.")
    texts: list[Text] | None = Field(
        None, description="Several texts; at most 10,000, unless the service was told otherwise."
    )
    alpha: Alpha = None


class ExplainRequest(Body):
    """Texts to explain with a model."""

    model: ModelId
    text: Text | None = Field(None, description="One text; the answer is its explanation.")
    texts: list[Text] | None = Field(
        None, description="Several texts, at most 100; the answer is a list of explanations."
    )
    top: int = Field(20, ge=1, le=1000, description="The most rules of each text.")
    alpha: Alpha = None


class ColumnsRequest(Body):
    """How to read a file."""

    text_column: str | None = Field(None, max_length=1000)
    label_column: str | None = Field(None, max_length=1000)
    date_column: str | None = Field(None, max_length=1000)
    format: Literal["txt", "csv", "tsv", "jsonl", "json", "parquet"] | None = None
    encoding: str | None = Field(None, max_length=40)


class Input(ColumnsRequest):
    """Documents: texts in the request, or a file that was uploaded."""

    texts: list[str | None] | None = Field(None, description="The texts.")
    labels: list[str] | None = Field(None, description="The class of each text.")
    dates: list[str | None] | None = Field(None, description="The date of each text.")
    upload: str | None = Field(None, max_length=64, description="Id of POST /v1/uploads.")

    @model_validator(mode="after")
    def check(self) -> Input:
        """Check that there are texts or a file, and what goes with them."""
        if (self.texts is None) == (self.upload is None):
            raise ValueError("give either texts or upload")
        for name in ("labels", "dates"):
            values = getattr(self, name)
            if values is not None and (self.texts is None or len(values) != len(self.texts)):
                raise ValueError(f"give as many {name} as texts")
        return self


class DescribeParameters(Body):
    """How to describe; what is left out has its default."""

    preset: Literal["default", "paper"] | None = None
    n_machines: int | None = Field(None, ge=1, le=1000)
    n_clauses: int | None = Field(None, ge=2, le=1_000_000, multiple_of=2)
    T: int | None = Field(None, ge=1, le=1_000_000)
    s: float | None = Field(None, ge=1, le=8000)
    epochs: int | None = Field(None, ge=1, le=100_000)
    max_literals: int | None = Field(None, ge=0, le=100_000)
    language: str | None = Field(None, max_length=40)
    lemmatize: bool | None = None
    min_df: int | None = Field(None, ge=1, le=1_000_000)
    ignore: str | None = Field(
        None, max_length=1000, description="Regular expression; what it matches is no word."
    )
    stop_words: list[str] | None = Field(
        None, max_length=10_000, description="Words to leave out, beside those of the language."
    )
    calendar: bool | None = None
    redact: bool | None = Redact
    fold_copies: bool | None = None
    themes: str | int = Field(
        "default", description="few, default or many, or the largest number of themes."
    )
    random_state: int = Field(0, ge=0, le=2**31 - 1)


class DescribeRequest(Body):
    """What to describe: known and novel, or documents with dates_from or by, or the sample."""

    known: Input | None = None
    novel: Input | None = None
    documents: Input | None = Field(None, description="Documents to split, with dates_from or by.")
    dates_from: str | None = Field(
        None,
        max_length=40,
        description="First day of the novel documents, or of the periods; a month (2003-04) or a "
        "year stands for its first day.",
    )
    by: str | None = Field(
        None,
        max_length=1000,
        min_length=1,
        description="day, week, month, quarter or year: describe each period of the documents "
        "against all before it. Or the name of a column (column:month if it is called like a "
        "period): describe the documents of each of its values against all others.",
    )
    sample: bool = Field(False, description="Describe the bundled sample.")
    within: str | None = Field(
        None,
        max_length=1000,
        description="A column that is to make no difference, such as a source.",
    )
    known_name: str | None = Field(None, max_length=40)
    novel_name: str | None = Field(None, max_length=40)
    name: str | None = Field(None, max_length=120, description="What to call the run.")
    parameters: DescribeParameters = DescribeParameters.model_validate({})
    top: int = Field(20, ge=1, le=1000, description="The most words of each side in the result.")

    @model_validator(mode="after")
    def check(self) -> DescribeRequest:
        """Check that the documents are given in one way."""
        pair = self.known is not None or self.novel is not None
        if pair + (self.documents is not None) + self.sample != 1:
            raise ValueError("give known and novel, or documents with dates_from or by, or sample")
        if pair and (self.known is None or self.novel is None):
            raise ValueError("give both known and novel")
        if (self.documents is None) != (self.dates_from is None and self.by is None):
            raise ValueError("documents belong together with dates_from or by")
        if self.by is not None and (self.known_name or self.novel_name):
            raise ValueError("known_name and novel_name are for two piles, not for by")
        if self.by is not None and self.within is not None:
            raise ValueError("within is for two piles, not for by")
        if self.compares_labels and self.dates_from is not None:
            raise ValueError("dates_from splits by dates, and by a column by its values")
        given = self.documents
        if self.compares_labels and given is not None and given.texts and given.labels is None:
            raise ValueError(f"by {self.by}: give labels with the texts, or a period")
        return self

    @property
    def compares_labels(self) -> bool:
        """Whether the documents of each value of a column are described."""
        return self.by is not None and unit_or_column(self.by)[1] is not None


class DetectRequest(Body):
    """Where to look for novel documents, and from what to learn: known documents or a model."""

    incoming: Input | None = None
    known: Input | None = None
    model: str | None = Field(None, max_length=64, description="Id of a detector.")
    sample: bool = Field(False, description="Detect in the bundled sample.")
    alpha: float | None = Field(None, gt=0, lt=1, description="False-alarm rate; by default 0.05.")
    groups: int | None = Field(None, ge=1, le=1000, description="Groups, without labels.")
    language: str | None = Field(None, max_length=40)
    lemmatize: bool | None = None
    ignore: str | None = Field(None, max_length=1000)
    redact: bool | None = Redact
    encoder: str | None = Field(
        None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
        max_length=100,
        description="Name of a sentence encoder, so that meaning counts beside words; GET "
        "/v1/encoders lists them. A model finds its own.",
    )
    describe: bool = Field(True, description="Describe what is new in the novel documents.")
    name: str | None = Field(None, max_length=120, description="What to call the run.")
    random_state: int = Field(0, ge=0, le=2**31 - 1)
    top: int = Field(20, ge=1, le=1000, description="The most words in the result.")

    @model_validator(mode="after")
    def check(self) -> DetectRequest:
        """Check that the documents are given in one way."""
        if self.sample:
            if self.incoming or self.known or self.model:
                raise ValueError("sample stands for incoming and known; leave them out")
        elif self.incoming is None or (self.known is None) == (self.model is None):
            raise ValueError("give incoming, and either known or model; or sample")
        return self


class MonitorRequest(Body):
    """A monitor to begin."""

    name: str = Field(min_length=1, max_length=120)
    model: ModelId
    every: int | str | None = Field(
        None, description="Documents of a window, or a span such as 1h; by default 500."
    )
    false_alarm_every: int | str | None = Field(
        None, description="How far apart false alarms may be, in the same unit."
    )
    fdr: float | None = Field(None, gt=0, lt=1)
    late: str | None = Field(
        None, description="How long a window of time waits for late documents, such as 2h."
    )


class MonitorDocument(Body):
    """A document of a stream."""

    text: Text | None
    time: float | str | None = Field(None, description="ISO text, or seconds since 1970.")
    id: str | None = Field(None, max_length=1000, description="A document with an id comes once.")


class MonitorDocumentsRequest(Body):
    """Documents for a monitor."""

    documents: list[MonitorDocument] = Field(
        max_length=10_000,
        description="May be empty, to test a window of time that is over.",
    )
    close_window: bool = Field(
        False,
        description="Test the open window now. Later documents of its span of time are late.",
    )


class PromoteRequest(Body):
    """What a topic becomes."""

    name: str = Field(min_length=1, max_length=200, description="Name of the class.")


class MergeRequest(Body):
    """Which topic becomes part of another."""

    topic: int = Field(ge=1, le=10**9, description="Number of the topic.")


class EmptyRequest(Body):
    """Nothing: an action that needs no data."""


class SignInRequest(Body):
    """The token, for a browser that has no cookie yet."""

    token: str = Field(max_length=1000)


async def json_body(request: Request, kind: type[Checked]) -> Checked:
    """Return the body of a request, checked; a 400 or 422 says what is wrong with it."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise invalid(error, schema_of(kind)) from error


def texts_of(given: ScoreRequest | ExplainRequest, most: int) -> list[str]:
    """Return the texts of a request; it must have one or several, and not too many."""
    if (given.text is None) == (given.texts is None):
        raise Problem(422, "Send either text or texts.")
    texts: list[str] = [given.text] if given.text is not None else list(given.texts or ())
    if not texts:
        raise Problem(422, "texts is empty; send at least one text.")
    if len(texts) > most:
        raise Problem(413, f"There are {len(texts):,} texts; send at most {most:,} at once.")
    return texts


def schema_of(kind: type[Body]) -> dict[str, Any]:
    """Return the JSON Schema of a body, with references into OpenAPI's components."""
    return kind.model_json_schema(ref_template="#/components/schemas/{model}")

"""What programs send, as pydantic checks it and OpenAPI shows it."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request

from newfound.serve.problems import Problem, invalid

__all__ = ["Body", "ExplainRequest", "ScoreRequest", "SignInRequest", "json_body"]

Checked = TypeVar("Checked", bound="Body")
Text = Annotated[str, Field(max_length=250_000)]
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


class ExplainRequest(Body):
    """Texts to explain with a model."""

    model: ModelId
    text: Text | None = Field(None, description="One text; the answer is its explanation.")
    texts: list[Text] | None = Field(
        None, description="Several texts, at most 100; the answer is a list of explanations."
    )
    top: int = Field(20, ge=1, le=1000, description="The most rules of each text.")


class SignInRequest(Body):
    """The token, for a browser that has no cookie yet."""

    token: str = Field(max_length=1000)


async def json_body(request: Request, kind: type[Checked]) -> Checked:
    """Return the body of a request, checked; a 400 or 422 says what is wrong with it."""
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise invalid(error) from error


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

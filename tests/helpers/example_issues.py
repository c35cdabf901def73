"""Issues from the JSON that a client sends."""

from collections.abc import Mapping
from typing import Any

from negotiator.terms.issues import Issue
from negotiator.terms.schemas_terms import IssueBody
from negotiator.terms.terms_parsing import parse_issues


def example_issues(*rows: Mapping[str, Any]) -> tuple[Issue, ...]:
    """The issues of these bodies, their weights normalised."""
    return parse_issues([IssueBody.model_validate(row) for row in rows])

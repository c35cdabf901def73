"""Every operation's example is a valid input: what a reader copies works."""

import pytest
from pydantic import ValidationError

from negotiator.base.schema_examples import example_input
from negotiator.compose.application import build_application
from negotiator.config.settings import Settings


def test_every_example_is_a_valid_input(settings: Settings) -> None:
    for operation in build_application(settings).service.operations:
        example = example_input(operation.input)
        try:
            operation.input.model_validate(example)
        except ValidationError as fault:
            pytest.fail(f"{operation.name}: {example} {fault}")

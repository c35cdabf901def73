"""Every operation's example is a valid input: what a reader copies works."""

import pytest
from pydantic import ValidationError

from negotiator.discovery import examples
from negotiator.settings import Settings
from negotiator.wiring.house import build


def test_every_example_is_a_valid_input(chosen: Settings) -> None:
    for operation in build(chosen).service.operations:
        example = examples.of(operation.input)
        try:
            operation.input.model_validate(example)
        except ValidationError as fault:
            pytest.fail(f"{operation.name}: {example} {fault}")

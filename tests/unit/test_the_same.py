"""What is told where a question that was asked again has the same answer."""

import pytest

from backend.types import Sampling
from ui.asking import the_same


@pytest.mark.parametrize(
    ("temperature", "seed", "told"),
    [
        (0, 0, ". For another one, raise the temperature and empty the seed in the settings."),
        (0, None, ". For another one, raise the temperature in the settings."),
        (2, 0, ". For another one, empty the seed in the settings."),
        (2, None, ", although it was drawn anew."),
    ],
)
def test_only_what_would_help_is_advised(temperature: float, seed: int | None, told: str) -> None:
    sampling = Sampling(temperature=temperature, seed=seed)
    assert the_same(sampling) == f"The answer is the same as before{told}"

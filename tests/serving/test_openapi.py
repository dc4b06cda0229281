"""Responses conform to the OpenAPI description, for valid and invalid requests."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings

pytest.importorskip("fastapi", reason="the extra `serve` is not installed")
schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

from schemathesis.specs.openapi.checks import positive_data_acceptance  # noqa: E402

from kgflow.serving.app import create_app  # noqa: E402

PATHS = {
    ("POST", "/v1/predict"),
    ("POST", "/v1/score"),
    ("GET", "/v1/entities"),
    ("GET", "/v1/entities/{name}"),
    ("GET", "/v1/relations"),
    ("GET", "/v1/relations/{name}"),
    ("POST", "/v1/explain"),
    ("POST", "/v1/ask"),
    ("GET", "/v1/ask/examples"),
    ("GET", "/v1/rules"),
    ("GET", "/v1/suggestions"),
    ("GET", "/v1/plots/densities"),
    ("GET", "/v1/plots/rules"),
    ("GET", "/v1/plots/map"),
    ("POST", "/v1/reload"),
    ("GET", "/v1/run"),
    ("GET", "/v1/metrics"),
    ("GET", "/v1/health"),
    ("GET", "/metrics"),
}
few = settings(
    max_examples=12,
    deadline=None,
    derandomize=True,
    database=None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def description(served_run):
    return schemathesis.openapi.from_asgi("/v1/openapi.json", create_app(served_run))


def test_everything_is_described(description):
    operations = [found.ok() for found in description.get_all_operations()]
    assert {(o.method.upper(), o.path) for o in operations} == PATHS


@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode), ids=lambda m: m.name.lower())
@pytest.mark.parametrize(("method", "path"), sorted(PATHS))
def test_answers_are_as_described(description, method, path, mode):
    operation = description[path][method]
    if not mode.is_positive and not (operation.body or operation.query or "{" in path):
        return  # there is nothing to get wrong

    # A schema cannot describe which texts are queries.
    excluded = [positive_data_acceptance] if path == "/v1/ask" else []

    @few
    @given(operation.as_strategy(generation_mode=mode))
    def check(case):
        case.call_and_validate(excluded_checks=excluded)

    check()

"""Settings for every test: Hypothesis runs the same examples each time, so that a failure is one on every machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "detent",
    derandomize=True,
    deadline=None,  # a busy machine is no bug
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("detent")

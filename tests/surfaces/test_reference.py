"""The reference pages say what the data says: every state, move, answer, setting, event and error code."""

import re
from pathlib import Path

import pytest

import detent
from detent.errors import REFUSALS
from detent.lifecycle import Lifecycle
from detent.lifecycle.describe import rows
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycle.problems import PROBLEMS
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from detent.surfaces.reference import error_page, lifecycle_page, metrics_page, overview_page
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import Family

ALL = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=list(BUILT_IN))


def table_rows(page: str, heading: str) -> list[list[str]]:
    """The cells of the table whose first heading this is."""
    lines = page.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith(f"| {heading} |")) + 2
    found = []
    for line in lines[first:]:
        if not line.startswith("|"):
            break
        found.append([cell.strip().replace("`", "") for cell in line.split("|")[1:-1]])
    return found


@ALL
def test_page_lists_every_state(lifecycle: Lifecycle) -> None:
    assert [row[:3] for row in table_rows(lifecycle_page(lifecycle), "state")] == [
        [state.name, state.phase, state.outcome or ""] for state in lifecycle.states
    ]


@ALL
def test_page_lists_exactly_the_moves_that_exist(lifecycle: Lifecycle) -> None:
    listed = {
        (source, verb, source if to == "the same" else to, by, recovery == "yes")
        for sources, verb, to, by, recovery in table_rows(lifecycle_page(lifecycle), "from")
        for source in sources.split(", ")
    }

    assert listed == {
        (row["from"] or "–", row["verb"], row["to"], ", ".join(row["by"]), row["recovery"]) for row in rows(lifecycle)
    }


@ALL
def test_page_has_both_pictures(lifecycle: Lifecycle) -> None:
    page = lifecycle_page(lifecycle)

    assert f"```mermaid\n{as_mermaid(lifecycle)}```" in page
    assert f"```text\n{as_text(lifecycle)}```" in page


def test_page_tells_what_the_end_of_a_lease_means() -> None:
    assert ["running", "the lease runs out", "expire to queued while attempts are left"] in (
        table_rows(lifecycle_page(STANDARD), "in")
    )
    assert ["running", "the lease runs out", "expire to failed"] in table_rows(lifecycle_page(ENGINE), "in")
    assert ["claimed", "the lease runs out", "stall to stalled"] in table_rows(lifecycle_page(CONTRACT), "in")


def test_page_tells_what_the_end_of_a_time_limit_means() -> None:
    assert ["queued", "a time limit is over (30 s)", "time_out to failed"] in table_rows(lifecycle_page(ENGINE), "in")
    assert ["RUNNING", "a time limit is over (3600 s)", "time_out to TIMEOUT"] in (
        table_rows(lifecycle_page(DISPATCH), "in")
    )
    assert ["RETRYING", "the wait is over", "requeue to QUEUED"] in table_rows(lifecycle_page(DOCUMENT), "in")


@pytest.mark.parametrize(
    ("lifecycle", "row"),
    [
        (STANDARD, "| `running` | `expire` | `expire` to `dead_lettered` |"),
        (STANDARD, "| `dead_letter` to `dead_lettered`; with `used_up='fail'` `fail` to `failed` |"),
        (DOCUMENT, "| `RUNNING` | `retry` | `fail` to `FAILED` |"),
        (CONTRACT, "| `stall` to `stalled`, and stays there until somebody requeues it |"),
        (ENGINE, "There is no way back: the first loss ends the job"),
    ],
)
def test_page_tells_what_a_used_up_budget_means(lifecycle: Lifecycle, row: str) -> None:
    assert row in lifecycle_page(lifecycle)


def test_page_tells_the_defaults() -> None:
    defaults = dict(table_rows(lifecycle_page(STANDARD), "setting"))

    assert (defaults["lease_s"], defaults["heartbeat_s"], defaults["timeout_s"]) == ("60", "30", "none")
    assert defaults["retry"] == "5 attempts, 0.5 s apart at first, × 2 each time up to 60 s, with jitter"
    assert dict(table_rows(lifecycle_page(DOCUMENT), "setting"))["retry"] == "4 attempts, 1 s apart"
    assert dict(table_rows(lifecycle_page(DISPATCH), "setting"))["retry"] == "never"


@pytest.mark.requirement("ENG-11")
def test_page_of_a_lifecycle_without_a_way_back_promises_one_attempt() -> None:
    defaults = dict(table_rows(lifecycle_page(ENGINE), "setting"))

    assert defaults["retry"].startswith("one attempt; with rerun_failed 3 jobs in a row, 0.5 s apart at first")
    assert defaults["rerun_failed"] == "false"


def test_page_tells_the_rules_that_are_a_lifecycles_own() -> None:
    assert "names the revision it was decided on" in lifecycle_page(CONTRACT)
    assert "sets `reclaim`" in lifecycle_page(CONTRACT)
    assert "implies its start" in lifecycle_page(DISPATCH)
    assert "granted without a trace" in lifecycle_page(DISPATCH)
    assert "implies its start" not in lifecycle_page(STANDARD)


@ALL
def test_page_names_the_event_of_every_move_and_end(lifecycle: Lifecycle) -> None:
    page = lifecycle_page(lifecycle)
    named = {row[1] for heading in ("move", "end") for row in table_rows(page, heading)}

    routes = [route for verbs in lifecycle.table.routes.values() for route in verbs.values()]
    legs = [leg for route in (*routes, lifecycle.table.start) for leg in (route.forward, route.recovery) if leg]
    assert named == {leg.event for leg in legs} | {lifecycle.table.heartbeat_event}


@pytest.mark.requirement("ENG-09")
def test_page_tells_old_names_where_there_are_any() -> None:
    assert table_rows(lifecycle_page(ENGINE), "kind") == [
        ["state", "started", "running"],
        ["state", "finished", "completed"],
        ["event", "JOB_STARTED", "JOB_RUNNING"],
        ["event", "JOB_FINISHED", "JOB_COMPLETED"],
    ]
    assert "## Old names" not in lifecycle_page(STANDARD)


def test_overview_leads_to_every_page() -> None:
    page = overview_page(BUILT_IN.values())

    for name, lifecycle in BUILT_IN.items():
        assert f"[{name}]({name}.md)" in page
        assert lifecycle.summary in page


def test_error_page_has_every_code_with_its_meaning() -> None:
    page = error_page()

    for code, meaning in (REFUSALS | PROBLEMS).items():
        assert f"| `{code}` | {meaning} |" in page


def test_every_code_in_the_source_is_on_the_page_of_errors() -> None:
    sources = Path(detent.__file__).parent.rglob("*.py")
    raised = {code for source in sources for code in re.findall(r'\bcode="([a-z_]+)"', source.read_text())}
    codes_of_jobs = {"parse_error"}  # a dead letter's reason, not an error of ours

    assert [code for code in sorted(raised - codes_of_jobs) if f"`{code}`" not in error_page()] == []


@pytest.mark.requirement("STD-16")
def test_every_family_of_metrics_is_on_its_page_with_its_labels() -> None:
    page = metrics_page()
    declared = {name: each for name, each in vars(families).items() if isinstance(each, Family)}

    assert len(declared) > 30
    assert set(declared.values()) == {*families.WORKER, *families.SERVICE, *families.ATTACHED, *families.STORE}
    for family in declared.values():
        labels = ", ".join(f"`{label}`" for label in family.labels)
        assert f"| `{family.full_name}` | {family.type} | {labels} | {family.about} |" in page


@pytest.mark.requirement("STD-16")
def test_names_of_metrics_say_what_they_count_and_in_which_unit() -> None:
    for family in (*families.WORKER, *families.SERVICE, *families.ATTACHED, *families.STORE):
        assert re.fullmatch(r"detent_[a-z]+(_[a-z]+)*", family.full_name)
        assert family.name.endswith("_total") == (family.type == "counter")
        assert family.type != "histogram" or family.name.endswith("_seconds")
        assert not any(label.endswith("id") for label in family.labels)


@pytest.mark.requirement("STD-16")
@pytest.mark.parametrize("told", [families.WORKER, families.SERVICE], ids=["worker", "service"])
def test_worker_and_service_have_each_metric_that_was_asked_for(told: tuple[Family, ...]) -> None:
    names = {family.name for family in told}

    assert {"claims_total", "claim_conflicts_total", "lease_renewals_total", "lease_expiries_total"} <= names
    assert {"retries_total", "failures_total", "dead_letters_total", "lease_losses_total"} <= names
    assert {family.labels for family in told if family.type == "histogram"} == {("kind",)}


def test_guides_name_metrics_that_exist() -> None:
    known = {family.full_name for family in (*families.WORKER, *families.SERVICE, *families.ATTACHED, *families.STORE)}
    for guide in (Path(__file__).parents[2] / "docs" / "how-to").glob("*.md"):
        named = re.findall(r"\bdetent_[a-z_]+_(?:total|seconds)(?:_bucket)?\b", guide.read_text(encoding="utf-8"))

        assert {name.removesuffix("_bucket") for name in named} <= known, guide.name

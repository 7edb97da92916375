"""`detent job list` and `job count`: which jobs there are, as a person and as a program asks."""

import pytest

from detent.surfaces.cli.job.counting import CountShape
from tests.surfaces.running import Site, bury, fail, refused, refused_in_json, run_one, succeed, widest


@pytest.fixture
def busy(site: Site) -> Site:
    """A job in every phase, over three lifecycles and two queues."""
    with site.client() as client:
        succeed(client, "done")
        fail(client, "broken")
        bury(client, "dead")
        run_one(client, "running")
        client.enqueue("scan", job_id="held", queue="slow")
        client.claim(worker="w2", queues=["slow"])
        client.enqueue("mail", job_id="draft", lifecycle="document", correlation_id="order-1")
        client.enqueue("mail", job_id="gone", topic="t", workflow_id="wf", step_index=1, parent_job_id="draft")
        client.cancel("gone")
        client.enqueue("scan", job_id="waiting", dedupe_key="k", limit_key="l")
    return site


def ids(site: Site, *arguments: str) -> list[str]:
    return [job.id for job in site.json("job", "list", *arguments)]


def test_jobs_are_listed_newest_first_in_the_columns_that_fit(busy: Site) -> None:
    shown = busy.shown("job", "list")

    heading, _, *rows = shown.splitlines()
    assert heading.split() == ["job", "state", "kind", "queue", "attempt", "owner", "moved"]
    assert " ".join(row.split()[0] for row in rows) == "waiting gone draft held running dead broken done"
    assert rows[3].split()[1:3] == ["assigned", "scan"]
    assert all(row.endswith("ago") for row in rows)


def test_what_matters_less_is_left_out_first(busy: Site) -> None:
    headings = {columns: busy.shown("job", "list", columns=columns).splitlines()[0].split() for columns in (45, 52, 62)}

    assert headings == {
        45: ["job", "state", "kind", "moved"],
        52: ["job", "state", "kind", "owner", "moved"],
        62: ["job", "state", "kind", "queue", "owner", "moved"],
    }


def test_longer_ids_leave_room_for_fewer_columns(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="x" * 48)

    assert site.shown("job", "list").splitlines()[0].split() == ["job", "state", "kind", "moved"]


def test_wider_terminal_shows_more(busy: Site) -> None:
    wide = busy.shown("job", "list", columns=160).splitlines()

    assert wide[0].split() == ["job", "state", "kind", "queue", "attempt", "owner", "lifecycle", "moved", "created"]
    assert wide[5].split()[:7] == ["held", "assigned", "scan", "slow", "1", "w2", "standard"]


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        (("--state", "running"), ["running"]),
        (("--phase", "held"), ["held"]),
        (("--outcome", "failure"), ["dead", "broken"]),
        (("--queue", "slow"), ["held"]),
        (("--kind", "mail"), ["gone", "draft"]),
        (("--lifecycle", "document"), ["draft"]),
        (("--owner", "w2"), ["held"]),
        (("--correlation", "order-1"), ["draft"]),
        (("--parent", "draft"), ["gone"]),
        (("--workflow", "wf"), ["gone"]),
        (("--dedupe-key", "k"), ["waiting"]),
        (("--limit-key", "l"), ["waiting"]),
        (("--topic", "t"), ["gone"]),
        (("--created-since", "1h", "--kind", "mail"), ["gone", "draft"]),
        (("--created-until", "1h"), []),
        (("--ended-since", "1h", "--outcome", "success"), ["done"]),
        (("--ended-until", "2020-01-01"), []),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_each_filter_finds_what_it_names(busy: Site, filters: tuple[str, ...], found: list[str]) -> None:
    assert ids(busy, *filters) == found


def test_listing_goes_on_where_it_ended(busy: Site) -> None:
    first = busy.detent("job", "list", "--limit", "3")
    cursor = first.stderr.partition("--cursor ")[2].partition(",")[0]

    assert "There are more" in first.stderr
    assert ids(busy, "--cursor", cursor, "--limit", "2") == ["held", "running"]
    assert len(ids(busy, "--all")) == 8


def test_program_is_told_that_there_are_more_too(busy: Site) -> None:
    result = busy.detent("job", "list", "--limit", "3", "--json")

    assert "There are more: add --cursor" in result.stderr
    assert busy.detent("job", "list", "--limit", "8", "--json").stderr == ""


@pytest.mark.parametrize("columns", [60, 80])
def test_long_listing_is_one_table_however_many_pages_it_has(site: Site, columns: int) -> None:
    with site.client() as client:
        client.enqueue_many([{"kind": "scan", "job_id": f"job-{number}"} for number in range(1_100)])

    heading, rule, *rows = site.shown("job", "list", "--all", columns=columns).splitlines()

    assert (heading.split()[0], set(rule.strip())) == ("job", {"─"})
    assert [row.split()[0] for row in rows] == [f"job-{number}" for number in reversed(range(1_100))]
    assert len({row.index("queued") for row in rows}) == 1


def test_store_without_jobs_says_how_to_make_one(site: Site) -> None:
    with site.client():
        pass

    result = site.detent("job", "list")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "There are no jobs yet. Make one: detent enqueue KIND" in result.stderr
    assert site.json("job", "list") == []


def test_empty_listing_says_which_name_nobody_uses(busy: Site) -> None:
    assert "No job has the queue 'slwo'. Did you mean 'slow'?" in busy.detent("job", "list", "--queue", "slwo").stderr
    assert "No job is like that." in busy.detent("job", "list", "--queue", "slow", "--state", "queued").stderr


@pytest.mark.parametrize(
    ("option", "wrong", "right"), [("--state", "runing", "running"), ("--lifecycle", "engin", "engine")]
)
@pytest.mark.parametrize("command", ["list", "count"])
def test_name_that_no_lifecycle_has_is_a_slip(busy: Site, command: str, option: str, wrong: str, right: str) -> None:
    message = refused(busy.detent("job", command, option, wrong), 3)

    assert f"no {option[2:]} '{wrong}' in this store. Did you mean '{right}'?" in message
    assert refused_in_json(busy.detent("job", command, option, wrong, "--json"), 3)["code"] == "not_found"


@pytest.mark.parametrize("option", [("--limit", "0"), ("--phase", "busy"), ("--created-since", "999999999w")])
def test_option_that_cannot_be_meant_is_wrong_usage(busy: Site, option: tuple[str, str]) -> None:
    assert option[0] in refused(busy.detent("job", "list", *option), 2)
    assert refused_in_json(busy.detent("job", "list", *option, "--json"), 2)["code"] == "wrong_usage"


def test_cursor_that_no_listing_gave_is_an_error(busy: Site) -> None:
    assert refused_in_json(busy.detent("job", "list", "--cursor", "x", "--json"), 2)["code"] == "bad_cursor"


@pytest.mark.parametrize(
    ("command", "options", "said"),
    [
        ("job list", "--limit 5 --all", "--all is all of them, and --limit 5 is not"),
        ("dlq list", "--limit 5 --all", "--all is all of them, and --limit 5 is not"),
        ("job list", "--ended-since 1h --ended-until 2h", "--ended-since (2"),
        ("job count", "--created-since 1h --created-until 2h", "--created-since (2"),
        ("dlq redrive", "--ended-since 1h --ended-until 2h", "--ended-since (2"),
    ],
)
def test_options_that_contradict_each_other_are_wrong_usage(busy: Site, command: str, options: str, said: str) -> None:
    message = refused(busy.detent(*command.split(), *options.split()), 2)

    assert said in message


def test_how_long_ago_may_be_written_out(busy: Site) -> None:
    assert len(ids(busy, "--created-since", "15m ago")) == 8
    assert ids(busy, "--created-until", "15m ago") == []


def test_tenant_without_jobs_is_named(busy: Site) -> None:
    assert "Tenant 'nope' has no jobs. Make one: " in busy.detent("job", "list", "--tenant", "nope").stderr
    assert "Tenant 'nope' has no jobs." in busy.detent("job", "count", "--tenant", "nope", "--state", "queued").stderr


def test_counts_are_aligned_on_the_right(site: Site) -> None:
    with site.client() as client:
        client.enqueue_many([{"kind": "scan"} for _ in range(1_200)])
        client.enqueue("mail")

    assert site.shown("job", "count", "--by", "kind").splitlines() == [
        "kind    jobs",
        "────────────",
        "scan   1,200",
        "mail       1",
    ]


def test_jobs_are_counted_by_lifecycle_and_state(busy: Site) -> None:
    with busy.client() as client:
        client.enqueue("scan", job_id="more")

    heading, _, *rows = busy.shown("job", "count").splitlines()

    assert heading.split() == ["lifecycle", "state", "jobs"]
    assert rows[0].split() == ["standard", "queued", "2"]
    assert [row.split() for row in rows[1:3]] == [["document", "CREATED", "1"], ["standard", "assigned", "1"]]


def test_jobs_are_counted_by_what_is_named(busy: Site) -> None:
    counts = busy.json("job", "count", "--by", "queue", "--by", "outcome", "--kind", "scan")

    assert CountShape({"queue": "default", "outcome": "failure"}, 2) in counts
    assert CountShape({"queue": "slow", "outcome": None}, 1) in counts
    assert sum(count.jobs for count in counts) == 6


def test_count_of_nothing_says_so(busy: Site) -> None:
    result = busy.detent("job", "count", "--queue", "slwo")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "Did you mean 'slow'?" in result.stderr
    assert busy.json("job", "count", "--queue", "slwo") == []


def test_count_fits_the_terminal(busy: Site) -> None:
    assert widest(busy.shown("job", "count", columns=60)) <= 60

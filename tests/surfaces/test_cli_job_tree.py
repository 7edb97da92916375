"""`detent job tree`: parents and children, however many, however deep, even in a circle."""

import pytest

from detent.client import tree as growing
from detent.surfaces.shapes import BranchShape
from tests.surfaces.running import Site, refused_in_json, succeed, widest


@pytest.fixture
def family(site: Site) -> Site:
    with site.client() as client:
        client.enqueue("order", job_id="root")
        client.enqueue("mail", job_id="last", parent_job_id="root")
        client.enqueue("pack", job_id="second", parent_job_id="root", step_index=2)
        client.enqueue("pay", job_id="first", parent_job_id="root", step_index=1)
        client.enqueue("label", job_id="inner", parent_job_id="second")
    return site


def test_whole_tree_is_drawn_in_the_order_of_steps_from_any_of_its_jobs(family: Site) -> None:
    drawn = [
        "root  order  queued",
        "├ first  pay  step 1  queued",
        "├ second  pack  step 2  queued",
        "│ └ inner  label  queued",
        "└ last  mail  queued",
    ]

    for job_id in ("root", "inner"):
        assert family.shown("job", "tree", job_id).splitlines() == drawn


def test_job_that_was_asked_for_stands_out(family: Site) -> None:
    assert "\x1b[1minner\x1b[0m" in family.shown("job", "tree", "inner", env={"FORCE_COLOR": "1"})


def test_json_has_every_job_with_its_depth(family: Site) -> None:
    branches = family.json("job", "tree", "inner")

    assert all(isinstance(branch, BranchShape) for branch in branches)
    assert [(branch.depth, branch.job.id) for branch in branches] == [
        (0, "root"),
        (1, "first"),
        (1, "second"),
        (2, "inner"),
        (1, "last"),
    ]


def test_steps_name_their_workflow(site: Site) -> None:
    with site.client() as client:
        client.enqueue("order", job_id="root", workflow_id="spring")
        client.enqueue("pay", job_id="first", parent_job_id="root", workflow_id="spring", step_index=1)

    assert site.shown("job", "tree", "root").splitlines() == [
        "root  order  of spring  queued",
        "└ first  pay  step 1 of spring  queued",
    ]


def test_rerun_is_a_child_and_called_so(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42")
        again = client.rerun("42")

    assert site.shown("job", "tree", "42").splitlines() == ["42  scan  succeeded", f"└ {again.id}  scan  rerun  queued"]


def test_long_chain_of_reruns_is_drawn_without_running_out_of_stack_or_screen(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="0")
        links = range(1, 1_501)
        client.enqueue_many([{"kind": "scan", "job_id": str(n), "parent_job_id": str(n - 1)} for n in links])

    shown = site.shown("job", "tree", "750").splitlines()

    assert len(shown) == 1_501
    assert shown[-1].strip() == "└ [1500] 1500  scan  queued"
    assert widest("\n".join(shown)) <= 80
    assert site.json("job", "tree", "1500")[-1].depth == 1_500


def test_reruns_of_reruns_are_one_chain(site: Site) -> None:
    with site.client() as client:
        job_id = "0"
        client.enqueue("scan", job_id=job_id)
        for _ in range(40):
            client.cancel(job_id)
            job_id = client.rerun(job_id).id

    shown = site.shown("job", "tree", job_id).splitlines()

    assert len(shown) == 41
    assert shown[0] == "0  scan  cancelled"
    assert job_id in shown[-1]


def test_jobs_that_name_each_other_as_parents_are_drawn_once_each(site: Site) -> None:
    with site.client() as client:
        for job_id, parent in (("a", "c"), ("b", "a"), ("c", "b")):
            client.enqueue("scan", job_id=job_id, parent_job_id=parent)

    drawn = [line.split()[-3] for line in site.shown("job", "tree", "b").splitlines()]

    assert sorted(drawn) == ["a", "b", "c"]


def test_job_that_is_its_own_parent_is_a_tree_of_one(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--parent", "42")

    assert site.shown("job", "tree", "42") == "42  scan  queued\n"


def test_parent_that_is_gone_makes_its_child_the_first_and_is_named(site: Site) -> None:
    with site.client() as client:
        succeed(client, "gone")
        client.enqueue("scan", job_id="42", parent_job_id="gone")
        client.purge(["gone"])

    drawn = site.detent("job", "tree", "42")

    assert (drawn.exit_code, drawn.stdout) == (0, "42  scan  queued\n")
    assert drawn.stderr == "'gone', which 42 names as its parent, is not there.\n"


def test_tree_that_is_too_large_says_what_to_do_instead(family: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing, "JOBS_MAX", 3)

    error = refused_in_json(family.detent("job", "tree", "root", "--json"), 2)

    assert error["message"] == "the tree of job root has more than 3 jobs; find its parts by workflow_id"

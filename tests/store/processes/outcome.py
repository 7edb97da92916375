"""What a campaign comes to: what was done, for a human to read, and what was wrong with it."""

from collections.abc import Iterable

from msgspec import Struct, field

from detent.audit import Report


class Outcome(Struct):
    """`faults` is empty, or the campaign has shown a bug."""

    summary: str = ""
    faults: list[str] = field(default_factory=list)

    def expect(self, is_so: bool, otherwise: str) -> None:
        if not is_so:
            self.faults.append(otherwise)

    def expect_equal(self, what: str, found: object, wanted: object) -> None:
        self.expect(found == wanted, f"{what}: {found}, not {wanted}")

    def expect_clean(self, report: Report) -> None:
        self.faults += [f"{each.invariant} {each.job_id} {each.message}" for each in report.violations]


def shares(counts: Iterable[int]) -> list[float]:
    listed = list(counts)
    return [count / max(sum(listed), 1) for count in listed]


def as_percent(counts: Iterable[int]) -> str:
    return " / ".join(f"{share:.0%}" for share in shares(counts))

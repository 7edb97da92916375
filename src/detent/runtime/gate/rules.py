"""Rules in their order: the first that is about a job gives its verdict. Pure."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from detent.runtime.gate.matching import Judged, Match
from detent.runtime.gate.verdicts import Verdict

DEFAULT_RULE: Final = "default"


class Rule(Struct, frozen=True):
    """Its verdict carries its name. `line` is where it stands in its file, for people."""

    name: str
    match: Match
    verdict: Verdict
    line: int | None = None


class Rules(Struct, frozen=True):
    """`default` is for jobs that no rule is about; without a word of their own the rule `default` allows them."""

    rules: tuple[Rule, ...] = ()
    default: Verdict = Verdict("allow", DEFAULT_RULE)

    def judge(self, job: Judged) -> Verdict:
        found = self.first(job)
        return self.default if found is None else replace(found.verdict, rule=found.name)

    def first(self, job: Judged) -> Rule | None:
        """None: no rule is about the job."""
        return next((rule for rule in self.rules if rule.match.fits(job)), None)

"""The gate: what asks the policy about every job of `dispatch` before anything runs.

verdicts     what a policy answers, and how an answer is read
matching     which jobs a rule is about
rules        rules in their order: the first that is about a job gives its verdict
loading      rules from TOML, judged when they are read
gate         a policy as the worker asks it: a file of rules, a function, or none
gatekeeper   the duty: find what waits for a verdict, ask, and put the verdicts on the record
"""

from detent.runtime.gate.gate import Gate, PolicySource
from detent.runtime.gate.gatekeeper import Gatekeeper
from detent.runtime.gate.loading import read_rules, rules_from_toml
from detent.runtime.gate.rules import DEFAULT_RULE, Rule, Rules
from detent.runtime.gate.verdicts import Verdict

__all__ = [
    "DEFAULT_RULE",
    "Gate",
    "Gatekeeper",
    "PolicySource",
    "Rule",
    "Rules",
    "Verdict",
    "read_rules",
    "rules_from_toml",
]

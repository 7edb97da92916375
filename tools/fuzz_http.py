"""Asks a real service whatever its description allows and forbids, and whatever a hostile caller would: `make fuzz`.

No answer may be a server error, or other than the description says. Two processes share the cases, each with a service
and a store of its own. A seed brings a run back: `make fuzz FUZZ_ARGS="--seed 7"`.
"""

import argparse
import logging
import random
import sys
import tempfile
import traceback
from collections import Counter
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from schemathesis import GenerationMode

from detent.surfaces.http.routes import ROUTES
from tests.surfaces.http.fuzzing import Fuzz
from tests.surfaces.http.hostile import questions, scrambled
from tests.surfaces.http.raw import Line, status
from tests.surfaces.http.serving import SCOPES, Served, served

PROCESSES: Final = 2
CASES: Final = 20_000  # for schemathesis
HOSTILE: Final = 10_000
SCRAMBLED: Final = 5_000
# Of what is asked of each operation in a round: as an admin, right and wrong; as somebody with one scope; as nobody.
ROUND: Final = 20
SINGLE: Final = 2

Tally = Counter[tuple[str, int]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES, help="how many schemathesis is to draw, at least")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    work = [(options.seed + number, -(-options.cases // PROCESSES)) for number in range(PROCESSES)]
    with get_context("spawn").Pool(PROCESSES) as pool:
        found = pool.starmap(fuzz, work)
    is_good = all(failure is None for _, failure in found)
    told(sum((tally for tally, _ in found), Counter[tuple[str, int]]()), is_good=is_good)
    return 0 if is_good else 1


def fuzz(seed: int, cases: int) -> tuple[Tally, str | None]:
    """What was asked; and what is wrong, as text: some errors do not survive the way to another process."""
    try:
        return asked(seed, cases), None
    except BaseException:
        failure = traceback.format_exc()
        print(failure, flush=True)  # at once: the others may take their time
        return Counter(), failure


def asked(seed: int, cases: int) -> Tally:
    logging.getLogger("detent.http").addHandler(logging.StreamHandler())  # where a fault was
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it says of each scrambled request that it is no HTTP
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), reconcile_s=None) as service:
        tally = drawn(service, seed, cases)
    # Of a request that has lost some of its bytes, the rest is waited for.
    with tempfile.TemporaryDirectory() as folder, served(Path(folder), receipt_s=1.0, reconcile_s=None) as service:
        return tally + hostile(service, random.Random(seed))


def drawn(service: Served, seed: int, cases: int) -> Tally:
    tokens = [service.new_token(scope, name=f"only-{scope}").text for scope in SCOPES]
    tally: Tally = Counter()
    for number in range(cases):
        run = Fuzz(service, seed + number * PROCESSES)
        each = min(ROUND, 1 + (cases - tally.total()) // (len(ROUTES) * len(GenerationMode)))  # the last round is short
        for mode in GenerationMode:
            run.run(each, mode=mode, token=service.token)
            run.run(SINGLE, mode=mode, token=tokens[number % len(tokens)])
        run.run(1, mode=GenerationMode.POSITIVE, token=None)
        tally += run.tally
        print(f"  {tally.total()} of {cases} cases in this process", flush=True)
        if tally.total() >= cases:
            break
    return tally


def hostile(service: Served, chance: random.Random) -> Tally:
    tally: Tally = Counter()
    for question in questions(service, chance, HOSTILE // PROCESSES):
        answer = service.ask(question.method, question.path, headers=question.headers, body=question.body)
        tally["hostile", answer.status] += 1
        assert answer.status < 500, question
    for _ in range(SCRAMBLED // PROCESSES):
        data = scrambled(service, chance)
        with closing(Line(service)) as line:
            line.say(data)
            line.end()
            tally["scrambled", status(line.heard())] += 1
            assert max(code for _, code in tally) < 500, data
    return tally


def told(tally: Tally, *, is_good: bool) -> None:
    for kind in dict.fromkeys(kind for kind, _ in tally):
        found = {code: count for (each, code), count in sorted(tally.items()) if each == kind}
        said = ", ".join(f"{count} x {code or 'hung up'}" for code, count in found.items())
        print(f"{kind}: {sum(found.values())} cases: {said}")
    if not is_good:
        print("Something is wrong; see above.")
        return
    schemathesis = sum(count for (kind, _), count in tally.items() if kind in ("positive", "negative"))
    print(f"schemathesis: {schemathesis} cases, 0 server errors, 0 answers other than the description says")
    print(f"hostile values and scrambled bytes: {tally.total() - schemathesis} cases, 0 server errors")


if __name__ == "__main__":
    sys.exit(main())

"""What happens in a demo, as data: the scenes of every lifecycle, and the policy that rules over `dispatch`."""

from typing import Final

from detent.lifecycle import Retry
from detent.surfaces.cli.demo.scene import LEASE_S, Act, Cue, Scene

WORK: Final = Act("work")
STEPS: Final = Act("work", for_s=1.0, steps=4)
SLOW: Final = Act("work", for_s=3.2, steps=8)
LONG: Final = Act("work", for_s=8.0, steps=20)  # until it is told to stop
LINGER: Final = Act("linger", for_s=8.0)  # the same, but deaf
VANISH: Final = Act("vanish", for_s=LEASE_S + 1.0)
STALL: Final = Act("stall")
RELEASE: Final = Act("release")
BUSY: Final = Act("fail", error="TransientError", message="the other side is busy")
BROKEN: Final = Act("fail", error="PermanentError", message="there is no such thing")
INVALID: Final = Act("fail", error="ValidationError", message="a field is missing")

BY_HAND: Final = "by-hand"  # a queue from which somebody takes jobs and never starts them
EARLY: Final = (0.0, 0.5)  # what takes long
CROWD: Final = (0.32, 0.34)  # many slow ones at once, so that whoever is killed then holds several
LIMITED: Final = {"timeout_s": 0.8}
THREE_TRIES: Final = {"retry": Retry(max_attempts=3, base_s=0.2)}
LATER: Final = {"delay_s": 600}
URGENT: Final = {"priority": 9}
SUBMIT: Final = {"submit": True}

SCENES: Final[dict[str, tuple[Scene, ...]]] = {
    "standard": (
        Scene("thumbnail", "succeeded", share=30),
        Scene("fetch", "succeeded", (BUSY, BUSY, WORK), share=14),
        Scene("charge", "dead_lettered", (BUSY,), share=6, when=EARLY, policy=THREE_TRIES),
        Scene("parse", "failed", (BROKEN,), share=4),
        Scene("import", "failed", (INVALID,), share=4),
        Scene("encode", "succeeded", (STEPS,), share=10),
        Scene("index", "succeeded", (VANISH, WORK), share=3, when=EARLY),
        Scene("crawl", "cancelled", (LONG,), share=3, when=EARLY, cue=Cue("active", "cancel")),
        Scene("mine", "cancelled", (LINGER,), when=EARLY, cue=Cue("active", "cancel")),
        Scene("spider", "cancelled", (LINGER,), share=2, when=EARLY, cue=Cue("active", "cancel hard")),
        Scene("newsletter", "cancelled", share=3, cue=Cue("ready", "cancel"), asked=LATER),
        Scene("reminder", "succeeded", share=4, when=EARLY, asked={"delay_s": 1.5}),
        Scene("alarm", "succeeded", share=4, asked=URGENT),
        Scene("sync", "succeeded", (RELEASE, WORK), share=3),
        Scene("render", "succeeded", (LINGER, WORK), share=2, when=EARLY, policy=LIMITED),
        Scene("invoice", "succeeded", share=4, again="dedupe_key"),
        Scene("payment", "succeeded", share=4, again="request_id"),
        Scene("book", "succeeded", (STEPS,), share=0, when=(0.1, 0.1)),
        Scene("chapter", "succeeded", share=3, when=(0.12, 0.3), parent="book"),
        Scene("film", "succeeded", (SLOW,), share=5, when=CROWD, asked=URGENT),
    ),
    "dispatch": (
        Scene("report", "SUCCEEDED", share=20),
        Scene("mailing", "SUCCEEDED", share=5),
        Scene("export", "DENIED", share=4),
        Scene("payout", "SUCCEEDED", share=3, cue=Cue("ready", "approve")),
        Scene("refund", "DENIED", share=2, cue=Cue("ready", "deny")),
        Scene("donation", "SCHEDULED", share=0, is_left=True),
        Scene("webhook", "FAILED", (BUSY,), share=4),
        Scene("ping", "SUCCEEDED", (Act("work", for_s=0.0),), share=6),
        Scene("tour", "CANCELLED", (LONG,), share=2, when=EARLY, cue=Cue("active", "cancel")),
        Scene("backfill", "CANCELLED", share=2, cue=Cue("ready", "cancel"), asked=LATER),
        Scene("probe", "TIMEOUT", (VANISH,), when=EARLY),
        Scene("sweep", "TIMEOUT", (LINGER,), when=EARLY, policy=LIMITED),
        Scene("batch", "SUCCEEDED", (SLOW,), share=2, when=CROWD, asked=URGENT),
    ),
    "engine": (
        Scene("infer", "completed", share=22),
        Scene("sample", "completed", (STEPS,), share=8),
        Scene("tune", "failed", (BROKEN,), share=4),
        Scene("simulate", "failed", (LINGER,), share=2, when=EARLY, policy=LIMITED),
        Scene(
            "warm-up", "failed", when=EARLY, asked={"queue": BY_HAND}, policy={"timeouts": {"dispatched": 0.8}},
        ),
        Scene("stray", "failed", when=EARLY, asked={"queue": "nobodys"}, policy={"timeouts": {"queued": 1.0}}),
        Scene("rehearsal", "failed", (LONG,), share=2, when=EARLY, cue=Cue("active", "cancel")),
        Scene("trace", "failed", (VANISH,), when=EARLY),
        Scene("lesson", "completed", (SLOW,), share=2, when=CROWD, asked=URGENT),
    ),
    "contract": (
        Scene("step", "succeeded", share=22),
        Scene("merge", "failed", (BROKEN,), share=4),
        Scene("plan", "succeeded", (STALL, WORK), share=5),
        Scene("lock", "succeeded", (STALL, WORK), share=2, policy={"reclaim": True}),
        Scene("bump", "succeeded", (Act("misread"),), share=5),
        Scene("apply", "succeeded", (VANISH, WORK), share=2, when=EARLY),
        Scene(
            "rollout", "succeeded", (VANISH, WORK), when=EARLY, cue=Cue("parked", "requeue"),
            policy={"retry": Retry.never()},
        ),
        Scene("deploy", "succeeded", (SLOW,), share=4, when=CROWD, asked=URGENT),
    ),
    "document": (
        Scene("ocr", "SUCCEEDED", share=20, asked=SUBMIT),
        Scene("letter", "SUCCEEDED", share=6, cue=Cue("parked", "submit")),
        Scene("scan", "SUCCEEDED", (BUSY, WORK), share=6, asked=SUBMIT),
        Scene("fax", "FAILED", (BUSY,), share=2, when=EARLY, asked=SUBMIT, policy=THREE_TRIES),
        Scene("form", "FAILED", (INVALID,), share=3, asked=SUBMIT),
        Scene("draft", "FAILED", share=2, cue=Cue("parked", "cancel")),
        Scene("sorting", "SUCCEEDED", (RELEASE, WORK), share=2, asked=SUBMIT),
        Scene("archive", "SUCCEEDED", (VANISH, WORK), share=2, when=EARLY, asked=SUBMIT),
        Scene("volume", "SUCCEEDED", (SLOW,), share=4, when=CROWD, asked=URGENT | SUBMIT),
    ),
}  # fmt: skip

# What the policy says of a dispatch job, by its kind: verdict, rule, delay.
VERDICTS: Final[dict[str, tuple[str, str, float]]] = {
    "mailing": ("throttle", "mail-a-second-apart", 1.0),
    "export": ("deny", "no-exports-abroad", 0.0),
    "payout": ("hold", "payouts-need-a-person", 0.0),
    "refund": ("hold", "refunds-need-a-person", 0.0),
    "donation": ("hold", "gifts-need-a-person", 0.0),
}
ALLOWED: Final = ("allow", "in-house", 0.0)

"""What a type checker must accept and refuse. mypy reads this file; a refusal that no longer happens is an error there.

Each function is also run by `test_typing`: what is refused here is refused then, too.
"""

from collections.abc import Coroutine
from typing import Any, assert_type

from detent import App, Context, JobHandle
from detent.app import Call

app = App("sqlite:///:memory:")


@app.job
def double(number: int) -> int:
    return 2 * number


@app.job(queue="ocr", priority="interactive")
async def extract(ctx: Context, path: str, pages: int = 1) -> dict[str, int]:
    return {path: pages}


@app.job()
def shout(ctx: Context, *, word: str) -> str:
    return word.upper()


@app.job(kind="tell")
async def whisper(word: str) -> None:
    assert word


async def calls_are_those_of_the_function(ctx: Context) -> None:
    assert_type(double(2), int)
    assert_type(await extract(ctx, "a.pdf", pages=3), dict[str, int])
    assert_type(shout(ctx, word="a"), str)
    await assert_type(whisper("a"), Coroutine[Any, Any, None])


def payloads_have_no_context() -> None:
    assert_type(double.enqueue(2), JobHandle[int])
    assert_type(double.enqueue(number=2).result(), int)
    assert_type(extract.enqueue("a.pdf", pages=3), JobHandle[dict[str, int]])
    assert_type(shout.enqueue(word="a"), JobHandle[str])
    assert_type(whisper.enqueue("a"), JobHandle[None])


async def twins_are_awaited() -> None:
    handle = assert_type(await extract.aenqueue("a.pdf"), JobHandle[dict[str, int]])
    assert_type(await handle.aresult(timeout_s=1), dict[str, int])


def options_stand_beside_the_arguments() -> None:
    assert_type(extract.enqueue(path="a.pdf", dedupe_key="a", priority=5, delay_s=10), JobHandle[dict[str, int]])
    assert_type(extract.options(priority="critical").enqueue("a.pdf"), JobHandle[dict[str, int]])


def batches_are_calls() -> None:
    call = assert_type(double.call(2), Call[int])
    for handle in double.enqueue_many([call, double.options(delay_s=1).call(3)]):
        if isinstance(handle, JobHandle):
            assert_type(handle, JobHandle[int])


def wrong_type() -> None:
    double.enqueue("two")  # type: ignore[call-overload]


def wrong_name() -> None:
    extract.enqueue(pth="a.pdf")  # type: ignore[call-overload]


def missing_argument() -> None:
    extract.enqueue()  # type: ignore[call-overload]


def wrong_type_beside_options() -> None:
    extract.options(priority=5).enqueue(path="a.pdf", pages="three")  # type: ignore[call-overload]


def wrong_option() -> None:
    extract.options(prioritee=5)  # type: ignore[call-arg]


def wrong_priority_name() -> None:
    extract.enqueue("a.pdf", priority="urgent")  # type: ignore[call-overload]


def wrong_call_in_a_batch() -> None:
    double.enqueue_many([double.call("two")])  # type: ignore[call-overload]


def wrong_setting() -> None:
    app.job(lease="long")  # type: ignore[call-overload]

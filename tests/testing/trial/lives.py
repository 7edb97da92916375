"""Jobs that come to every kind of end, for a worker and for a trial to run."""

import asyncio
from typing import Any, Final

from detent import App, Cancelled, Context, PermanentError, Retry, TransientError

app: Final = App(defaults={"retry": Retry(max_attempts=3, base_s=0.01)})
LIFECYCLES: Final = ("dispatch", "engine", "contract", "document")


@app.job
def plain(word: str) -> str:
    return word * 2


@app.job
async def awaited(word: str) -> str:
    await asyncio.sleep(0)
    return word


@app.job
def flaky(ctx: Context, word: str) -> str:
    ctx.save({"attempt": ctx.attempt})
    if ctx.attempt == 1:
        raise TransientError("busy", code="e1", stage="fetch")
    return word + str(ctx.checkpoint["attempt"])


@app.job
def hopeless(word: str) -> None:
    raise OSError(word)


@app.job
async def broken(word: str) -> None:
    raise PermanentError(word, code="gone", stage="parse", reason_code="parse_error")


@app.job
def unkeepable(word: str) -> Any:
    return object()


@app.job
def leaving(word: str) -> None:
    raise SystemExit(3)


@app.job
async def resigning(word: str) -> None:
    raise Cancelled("of its own accord")


@app.job
def completing(ctx: Context, word: str) -> str:
    ctx.complete(word)
    return "not looked at"


@app.job
def rolled_back(ctx: Context, word: str) -> None:
    try:
        with ctx.transaction() as tx:
            ctx.complete(word, tx=tx)
            raise KeyError(word)
    except KeyError:
        return


@app.job
async def telling(ctx: Context, word: str) -> None:
    ctx.progress(0.5, word)
    await ctx.aartifact(word, "s3://a", size=1)
    await ctx.asave(word, flush=True)


@app.job
def undo(word: str) -> str:
    return f"no {word}"


@app.job(compensate=undo)
def undone(word: str) -> None:
    raise PermanentError("it cannot be")


@app.job
async def family(ctx: Context, word: str) -> int:
    await plain.aenqueue(word)
    await hopeless.aenqueue(word)
    return len(await ctx.await_children())


@app.job
async def cancelled(ctx: Context, word: str) -> None:
    await (await app.aclient()).cancel(ctx.job.id, actor="ann", mode=word)
    while True:
        await asyncio.sleep(0.01)
        ctx.check()


def _succeed(word: str) -> str:
    return word


def _fail(word: str) -> None:
    raise TransientError(word)


for lifecycle in LIFECYCLES:
    app.job(kind=f"{lifecycle} succeeds", lifecycle=lifecycle)(_succeed)
    app.job(kind=f"{lifecycle} fails", lifecycle=lifecycle)(_fail)

# What each is called with; "misfit" is a payload that the function does not take.
PAYLOADS: Final[dict[str, Any]] = {
    each.kind: {"word": "soft" if each.kind == "cancelled" else "a"} for each in app.registrations()
}

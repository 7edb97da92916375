"""An engine: pip install 'python-socketio[asyncio_client]'; DETENT_URL=… DETENT_TOKEN=… python engine.py NAME

NAME is that of its token, or begins with it: `forge`, `forge/7`.
"""

import asyncio
import os
import sys
import uuid
from typing import Any

import socketio

NAME = sys.argv[1] if len(sys.argv) > 1 else "engine-1"
INSTANCE = uuid.uuid4().hex
# Not now, or not yet: after a reconnect others may be heard before `register` is.
AGAIN = {"not_registered", "too_many_requests", "store_locked", "store_unavailable", "outcome_unknown", "closing"}
LOST = (socketio.exceptions.SocketIOError, OSError)  # the connection, and it comes back
held: dict[str, int | None] = {}  # jobs, with their attempts; None: acknowledged, and no answer yet
running: dict[str, "asyncio.Task[Any]"] = {}
over: "asyncio.Queue[str]" = asyncio.Queue()  # why this engine ends
sio = socketio.AsyncClient()


async def build_scene(payload: dict[str, Any], job: "Job") -> dict[str, Any]:
    """To stop it is to cancel it, which it notices wherever it awaits something."""
    steps = payload.get("steps", 3)
    for step in range(1, steps + 1):
        await asyncio.sleep(0.05)
        await job.say("job_progress", progress=100 * step / steps)
    return {"steps": steps}


HANDLERS = {"BUILD_SCENE": build_scene}


async def ask(event: str, **said: Any) -> dict[str, Any]:
    """Until there is an answer: what is said twice counts once."""
    while True:
        try:
            answer: dict[str, Any] = await sio.call(event, said, namespace="/engine", timeout=10)
        except LOST:
            await asyncio.sleep(0.5)
            continue
        if answer["accepted"] or answer["code"] not in AGAIN:
            return answer
        await asyncio.sleep(0.5)


class Job:
    def __init__(self, job_id: str, attempt: int) -> None:
        self.id, self.attempt = job_id, attempt

    async def say(self, event: str, **more: Any) -> dict[str, Any]:
        return await ask(event, jobId=self.id, attempt=self.attempt, **more)

    async def work(self, job: dict[str, Any]) -> Any:
        if job["status"] == "dispatched" and not (await self.say("job_started"))["accepted"]:
            held.pop(self.id, None)
            return None
        return await HANDLERS[job["jobType"]](job["payload"], self)

    async def see_off(self, work: "asyncio.Task[Any]") -> None:
        """Say what it came to. Of a job that is this engine's no more there is nothing left to say."""
        await asyncio.wait([work])
        error = None if work.cancelled() else work.exception()
        if self.id not in held:
            came_to = "lost"
        elif work.cancelled():
            came_to = "cancelled"
            await self.say("job_cancelled")
        elif error is not None:
            came_to = "failed"
            await self.say("job_failed", error=f"BUILD_ERROR: {error}")
        else:
            came_to = "done"
            await self.say("job_complete", result=work.result())
        print(f"{self.id}: {came_to}", flush=True)
        held.pop(self.id, None)
        del running[self.id]


def begin(granted: dict[str, Any]) -> None:
    job, attempt = granted["job"], granted["attempt"]
    if job["jobId"] not in running:
        held[job["jobId"]], own = attempt, Job(job["jobId"], attempt)
        work = running[own.id] = asyncio.create_task(own.work(job))
        sio.start_background_task(own.see_off, work)
    if granted["isCancelled"]:
        stop(job["jobId"])


def stop(job_id: str) -> None:
    if job_id in running:
        running[job_id].cancel()


def forget(job_id: str) -> None:
    """Somebody else decides about it now: go on with nothing that it asked for."""
    held.pop(job_id, None)
    stop(job_id)


async def register() -> None:
    jobs = [{"jobId": job_id, "attempt": attempt} for job_id, attempt in held.items()]
    answer = await ask("register", engineId=NAME, instanceId=INSTANCE, jobTypes=list(HANDLERS), capacity=4, jobs=jobs)
    if not answer["accepted"]:
        over.put_nowait(answer["detail"])
        return
    for lost in answer["lost"]:
        forget(lost["jobId"])
    for granted in answer["jobs"]:
        begin(granted)


async def beat() -> None:
    """Heartbeats, and what is answered: some jobs are lost, or are to stop."""
    while True:
        await asyncio.sleep(3)
        alive = await ask("heartbeat")
        for lost in alive.get("lost", ()):
            forget(lost["jobId"])
        for stopped in alive.get("cancelled", ()):
            stop(stopped["jobId"])


@sio.on("connect", namespace="/engine")
async def connected() -> None:
    """The first time, and whenever it was cut off."""
    sio.start_background_task(register)  # calls cannot be awaited in here


@sio.on("connect_error", namespace="/engine")
async def connect_error(said: Any) -> None:
    """A service that is not there may come back; one that does not let us in has a code for it."""
    refused = said.get("data") if isinstance(said, dict) else None
    if isinstance(refused, dict) and refused["code"] not in AGAIN:
        over.put_nowait(refused["detail"])
    else:
        print(f"not connected: {said}", file=sys.stderr)


@sio.on("job_offer", namespace="/engine")
async def job_offer(said: dict[str, Any]) -> None:
    job_id = said["job"]["jobId"]
    if job_id in held:
        return
    held[job_id] = None
    taken = await ask("job_ack", jobId=job_id)
    if taken["accepted"]:
        begin(taken)
    elif held.get(job_id) is None:  # another engine was first
        held.pop(job_id, None)


@sio.on("job_cancel", namespace="/engine")
async def job_cancel(said: dict[str, Any]) -> None:
    stop(said["jobId"])


@sio.on("job_lost", namespace="/engine")
async def job_lost(said: dict[str, Any]) -> None:
    forget(said["jobId"])


@sio.on("superseded", namespace="/engine")
async def superseded(said: dict[str, Any]) -> None:
    over.put_nowait(f"engine {said['engineId']} is superseded: it has registered on another connection")


@sio.on("unauthorized", namespace="/engine")
async def unauthorized(said: dict[str, Any]) -> None:
    over.put_nowait(f"the token is good no more: {said['code']}")


async def connect() -> None:
    """For the first time; from then on it connects again by itself."""
    auth = {"token": os.environ["DETENT_TOKEN"]}
    while over.empty() and not sio.connected:
        try:
            await sio.connect(os.environ["DETENT_URL"], auth=auth, namespaces=["/engine"])
        except LOST:
            await asyncio.sleep(0.5)


async def main() -> str:
    """Until there is a reason to end."""
    await connect()
    beating = asyncio.create_task(beat())
    why = await over.get()
    for task in [beating, *running.values()]:
        task.cancel()
    await sio.shutdown()
    return why


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))

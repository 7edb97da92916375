"""Submits a job and waits for its end: NATS_URL=… python pool_client.py TOPIC JOB_ID [KEY.pem]

An id is for one job: of one that is there already nothing new is heard.
"""

import asyncio
import os
import sys
from pathlib import Path

import nats
from cap.client import submit_job
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from cryptography.hazmat.primitives.serialization import load_pem_private_key

URL = os.environ.get("NATS_URL", "nats://127.0.0.1:4222")
TOPIC, JOB_ID = sys.argv[1], sys.argv[2]
WAIT_S = 60
KEY = load_pem_private_key(Path(sys.argv[3]).read_bytes(), password=None) if len(sys.argv) > 3 else None


async def main() -> str:
    """What became of it."""
    bus = await nats.connect(URL)
    said: asyncio.Queue[buspacket_pb2.BusPacket] = asyncio.Queue()

    async def hear(message: nats.aio.msg.Msg) -> None:
        said.put_nowait(buspacket_pb2.BusPacket.FromString(message.data))

    for subject in ("sys.job.result", "sys.alert"):
        await bus.subscribe(subject, cb=hear)
    await bus.flush()  # so that it listens before anybody can answer
    asked = job_pb2.JobRequest(job_id=JOB_ID, topic=TOPIC, context_ptr=f"s3://questions/{JOB_ID}")
    await submit_job(bus, asked, trace_id=f"trace-{JOB_ID}", sender_id="my-client", private_key=KEY)
    try:
        async with asyncio.timeout(WAIT_S):
            while not (end := told_by(await said.get())):
                pass
            return end
    finally:
        await bus.close()


def told_by(packet: buspacket_pb2.BusPacket) -> str:
    """The worker's own result, the end that the service tells of, or why it was refused."""
    result, alert = packet.job_result, packet.alert
    if result.job_id == JOB_ID and result.status != job_pb2.JOB_STATUS_RUNNING:
        return f"{job_pb2.JobStatus.Name(result.status)} {result.result_ptr or result.error_message}"
    return f"refused: {alert.message}" if alert.details.get("job_id") == JOB_ID else ""


try:
    told = asyncio.run(main())
    print(JOB_ID, told)
    sys.exit(told.startswith("refused"))
except TimeoutError:
    sys.exit(f"{JOB_ID}: nothing was heard of it for {WAIT_S} s; see detent job explain {JOB_ID}")

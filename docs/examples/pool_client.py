"""Submits a job and waits for its end: NATS_URL=… python pool_client.py TOPIC JOB_ID [KEY.pem]"""

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
KEY = load_pem_private_key(Path(sys.argv[3]).read_bytes(), password=None) if len(sys.argv) > 3 else None


async def main() -> None:
    bus = await nats.connect(URL)
    results = await bus.subscribe("sys.job.result")
    await bus.flush()  # so that it listens before anybody can answer
    asked = job_pb2.JobRequest(job_id=JOB_ID, topic=TOPIC, context_ptr=f"s3://questions/{JOB_ID}")
    await submit_job(bus, asked, trace_id=f"trace-{JOB_ID}", sender_id="my-client", private_key=KEY)
    async for message in results.messages:
        packet = buspacket_pb2.BusPacket.FromString(message.data)
        result = packet.job_result
        # The worker's own result, or the end that the service tells of.
        if result.job_id == JOB_ID and result.status != job_pb2.JOB_STATUS_RUNNING:
            said = result.result_ptr or result.error_message
            sys.stdout.write(f"{JOB_ID} {job_pb2.JobStatus.Name(result.status)} {said}\n")
            break
    await bus.close()


asyncio.run(main())

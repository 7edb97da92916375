"""The verbs of Detent for programs: `connect`, the client, its blocking twin, and what they return."""

from detent.client.artifacts import Artifact
from detent.client.client import Client
from detent.client.codec import Codec
from detent.client.connecting import connect
from detent.client.sync import SyncClient
from detent.client.views import Event, Job, Note

__all__ = ["Artifact", "Client", "Codec", "Event", "Job", "Note", "SyncClient", "connect"]

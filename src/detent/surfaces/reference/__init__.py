"""The reference pages, written from the data they describe: Markdown text, no files."""

from detent.surfaces.reference.cli import cli_page
from detent.surfaces.reference.client import client_page
from detent.surfaces.reference.errors import error_page
from detent.surfaces.reference.lifecycle import lifecycle_page
from detent.surfaces.reference.metrics import metrics_page
from detent.surfaces.reference.overview import overview_page

__all__ = ["cli_page", "client_page", "error_page", "lifecycle_page", "metrics_page", "overview_page"]

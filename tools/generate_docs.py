"""Writes the generated pages of docs/reference anew, or with --check says which of them are not current."""

import argparse
import sys
from pathlib import Path

from detent.lifecycles import BUILT_IN
from detent.surfaces.http.openapi import document
from detent.surfaces.reference import cli_page, client_page, error_page, lifecycle_page, metrics_page, overview_page
from detent.surfaces.reference.http_api import http_page
from tests.paths.page import paths_page

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"

Pages = dict[Path, str]


def pages(folder: Path) -> Pages:
    lifecycles = folder / "lifecycles"
    written = {lifecycles / f"{name}.md": lifecycle_page(lifecycle) for name, lifecycle in BUILT_IN.items()}
    written[lifecycles / "index.md"] = overview_page(BUILT_IN.values())
    written[folder / "errors.md"] = error_page()
    written[folder / "client.md"] = client_page()
    written[folder / "cli.md"] = cli_page()
    written[folder / "metrics.md"] = metrics_page()
    written[folder / "http-api.md"] = http_page()
    written[folder / "openapi.json"] = document().decode()
    written[folder / "failure-paths.md"] = paths_page()
    return written


def stale(wanted: Pages, folder: Path) -> list[Path]:
    """Pages that differ, are missing, or are left over from a lifecycle that is gone."""
    differing = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    left_over = [path for path in (folder / "lifecycles").glob("*.md") if path not in wanted]
    return sorted(differing + left_over)


def write(wanted: Pages, folder: Path) -> list[Path]:
    changed = stale(wanted, folder)
    for path in changed:
        if path in wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
        else:
            path.unlink()
    return changed


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is not current")
    parser.add_argument("--folder", type=Path, default=REFERENCE, help="where the pages are")
    options = parser.parse_args(arguments)
    wanted = pages(options.folder)
    return report_stale(wanted, options.folder) if options.check else report_written(wanted, options.folder)


def report_stale(wanted: Pages, folder: Path) -> int:
    outdated = stale(wanted, folder)
    for path in outdated:
        print(f"{shown(path)} is not current", file=sys.stderr)
    if outdated:
        print("Run `make docs` and commit what it writes.", file=sys.stderr)
    return 1 if outdated else 0


def report_written(wanted: Pages, folder: Path) -> int:
    for path in write(wanted, folder):
        print(f"{'wrote' if path in wanted else 'removed'} {shown(path)}")
    return 0


def shown(path: Path) -> Path:
    return path.relative_to(ROOT) if path.is_relative_to(ROOT) else path


if __name__ == "__main__":
    sys.exit(main())

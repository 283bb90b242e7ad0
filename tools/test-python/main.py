"""Tries Tabserve beside a real Ray and with Python's own clients: `npm run test:python`.

It makes its virtual environments by itself, runs everything on loopback, prints tables and ends with `N passed, N failed`.
`main.py PART…` runs some parts alone; `--write` puts Ray's table into docs/ray-and-python.md.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import shutil
import signal
import sys
from pathlib import Path

from application import Application
from clients import run_chat_clients, run_clients, run_embedding_clients
from environments import ROOT, environment, version_of
from processes import run
from results import Results, markdown_table
from schemas import run_schema_checks
from tabserve import NODE, PortTaken, require_port
from training import run_training_tests
from tutorials import COLUMNS, PORT, Tutorials

PARTS = ("ray", "clients", "chats", "embeddings", "schemas", "train")
DOCUMENT = ROOT / "docs" / "ray-and-python.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


def main() -> int:
    # A shell that runs this in the background makes it ignore Ctrl+C, which its child processes would inherit.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    arguments = parse_arguments()
    require_programs()
    results = Results()
    parts = arguments.parts or PARTS
    sections: list[str] = []
    build_page()
    if "ray" in parts:
        sections += run_ray(results)
    if "clients" in parts:
        run_clients(results, environment)
    if "chats" in parts:
        run_chat_clients(results, environment)
    if "embeddings" in parts:
        run_embedding_clients(results, environment)
    if "schemas" in parts:
        run_schema_checks(results, environment)
    if "train" in parts:
        run_training_tests(results, environment)
    print("\n" + "\n\n".join([*sections, checks_table(results)]))
    if arguments.write and sections:
        write_document(sections)
    num_failed = results.num_failed
    print(f"\n{len(results.checks) - num_failed} passed, {num_failed} failed")
    return 1 if num_failed else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="npm run test:python --", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"one of: {', '.join(PARTS)} (default all)")
    parser.add_argument("--write", action="store_true", help=f"write the measurements to {DOCUMENT.relative_to(ROOT)}")
    arguments = parser.parse_args()
    unknown = set(arguments.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown part {', '.join(sorted(unknown))}: the parts are {', '.join(PARTS)}")
    return arguments


def require_programs() -> None:
    if sys.version_info < (3, 11):
        raise SystemExit(f"Python 3.11 or later is needed, this is {platform.python_version()}.")
    if shutil.which("curl") is None:
        raise SystemExit("curl is missing. Install it (`apt-get install curl`), then run this again.")
    if not NODE.exists():
        raise SystemExit("The packages of Node are missing. Run `npm ci`, then run this again.")


def build_page() -> None:
    done = run([NODE, ROOT / "node_modules" / "vite" / "bin" / "vite.js", "build"], cwd=ROOT)
    if done.returncode != 0:
        raise SystemExit(f"The page could not be built:\n{done.stdout[-3000:]}")


def run_ray(results: Results) -> list[str]:
    require_port(PORT)
    bin_folder = environment("ray")
    application = Application(bin_folder, results)
    results.run("deploy/ray-serve", "its cluster starts and ends", application.run)
    tutorials = Tutorials(bin_folder, results, application.greedy)
    results.run("Tutorials on Ray Serve", "their cluster starts and ends", tutorials.run)
    order = {"deploy/ray-serve": 1, "Tabserve": 2}
    rows = [*tutorials.rows, *application.rows]
    programs = list(dict.fromkeys(row.program for row in rows))
    rows.sort(key=lambda row: (programs.index(row.program), order.get(row.system, 0)))
    return [
        describe_run(bin_folder),
        markdown_table(["program as printed", "ends with", "because"], tutorials.printed),
        markdown_table(COLUMNS, [row.cells() for row in rows]),
    ]


def describe_run(bin_folder: Path) -> str:
    packages = ("ray", "torch", "transformers", "tensorflow-cpu", "onnxruntime")
    versions = ", ".join(f"{package} {version_of(bin_folder, package)}" for package in packages)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[1]
    return (
        f"{datetime.date.today()}, {cpu_name()}, {os.cpu_count()} cores, {memory:.0f} GiB, load average {load:.1f}; "
        f"Python {platform.python_version()}, {versions}. Command: `npm run test:python -- --write`."
    )


def cpu_name() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def checks_table(results: Results) -> str:
    rows = [(subject, str(passed), str(failed)) for subject, passed, failed in results.subjects()]
    return markdown_table(["subject", "passed", "failed"], rows)


def write_document(sections: list[str]) -> None:
    before, rest = DOCUMENT.read_text().split(BEGIN)
    after = rest.split(END)[1]
    DOCUMENT.write_text(f"{before}{BEGIN}\n\n" + "\n\n".join(sections) + f"\n\n{END}{after}")
    run([NODE, ROOT / "node_modules" / ".bin" / "oxfmt", DOCUMENT], cwd=ROOT)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except PortTaken as error:
        sys.exit(str(error))

"""Requests a second, latency and memory of ``newfound serve``, over the loopback device.

    python benchmarks/serve.py [--seconds 60] [--connections 32] [--requests 200000]

The service is a process of its own, with one worker; the model is a detector of the banking
requests of the bundled sample, with their 15 intents. The client, in this process, is plain
asyncio: each connection sends its next request when it has the answer to the last one. Messages are
the 3,000 of the sample, half of them novel. Memory is that of the service, as /metrics tells. The
client takes a part of the machine, too. Results go to benchmarks/results/serve.md and serve.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import cycle
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import newfound

RESULTS = Path(__file__).parent / "results" / "serve"
BATCH = 1000  # texts of a request to /v1/score


@dataclass
class Tally:
    """What the answers were like."""

    seconds: list[float] = field(default_factory=list)
    errors: int = 0
    processor: float = 0.0


class Service:
    """A service in a process of its own, and requests to it."""

    def __init__(self, workspace: Path, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "newfound", "serve", "--json", "--port", "0", "--workspace",
             workspace, *options],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        address = urlsplit(said["address"])
        self.host, self.port, self.token = address.hostname, address.port, said["token"]

    def request(self, method: str, path: str, body: Any = None) -> bytes:
        """Return a request as bytes."""
        content = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self.host}:{self.port}\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        return head.encode() + content

    async def ask(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the content of one answer."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(self.request(method, path, body))
        _, content = await read_answer(reader)
        writer.close()
        return content

    async def memory(self) -> float:
        """Return the memory of the service in MB."""
        text = (await self.ask("GET", "/metrics")).decode()
        line = next(one for one in text.splitlines() if one.startswith("newfound_memory_bytes"))
        return float(line.split()[1]) / 1e6

    def processor_seconds(self) -> float:
        """Return the processor time that the service has used; it depends little on the load."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:  # not Linux
            return float("nan")
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End the service."""
        self.process.terminate()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


async def read_answer(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Return the status and the content of an answer."""
    head = await reader.readuntil(b"\r\n\r\n")
    status = int(head[9:12])
    place = head.lower().index(b"content-length:") + 15
    length = int(head[place : head.index(b"\r\n", place)])
    return status, await reader.readexactly(length)


async def connection(
    service: Service, requests: Iterator[bytes], tally: Tally, end: float, most: Iterator[int]
) -> None:
    """Send requests one after the other, until the end or until there were enough."""
    reader, writer = await asyncio.open_connection(service.host, service.port)
    while time.perf_counter() < end and next(most, None) is not None:
        began = time.perf_counter()
        writer.write(next(requests))
        status, _ = await read_answer(reader)
        tally.seconds.append(time.perf_counter() - began)
        tally.errors += status != 200
    writer.close()


async def load(
    service: Service,
    requests: Iterator[bytes],
    connections: int,
    seconds: float,
    most: int = 10**9,
) -> tuple[Tally, float]:
    """Return what the answers were like, and how long it took."""
    tally, left = Tally(processor=-service.processor_seconds()), iter(range(most))
    began = time.perf_counter()
    end = began + seconds
    await asyncio.gather(
        *(connection(service, requests, tally, end, left) for _ in range(connections))
    )
    took = time.perf_counter() - began
    tally.processor += service.processor_seconds()
    return tally, took


def row(what: str, tally: Tally, seconds: float, texts: int, memory: float) -> dict[str, Any]:
    """Return a row of the table."""
    times = 1000 * np.array(tally.seconds)
    return {
        "what": what,
        "seconds": round(seconds, 1),
        "requests": len(times),
        "messages a second": round(texts * len(times) / seconds),
        "p50, ms": round(float(np.percentile(times, 50)), 1),
        "p99, ms": round(float(np.percentile(times, 99)), 1),
        "processor ms a request": round(1000 * tally.processor / len(times), 2),
        "errors": tally.errors,
        "memory after, MB": round(memory, 1),
    }


async def measure(
    service: Service, messages: list[str], options: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return a row for each measurement."""
    explain = cycle(
        [
            service.request("POST", "/v1/explain", {"model": "intents", "text": text})
            for text in messages
        ]
    )
    batches = cycle(
        [
            service.request(
                "POST", "/v1/score", {"model": "intents", "texts": messages[n : n + BATCH]}
            )
            for n in range(0, len(messages) - BATCH + 1, BATCH)
        ]
    )
    n, seconds = options.connections, options.seconds
    rows = []
    await load(service, explain, n, min(3.0, seconds))  # the model is loaded, and words are read
    tally, took = await load(service, explain, n, seconds)
    rows.append(row(f"explain, {n} connections", tally, took, 1, await service.memory()))
    tally, took = await load(service, batches, 4, seconds)
    name = f"score, batches of {BATCH:,}, 4 connections"
    rows.append(row(name, tally, took, BATCH, await service.memory()))
    job = {"sample": True, "parameters": {"n_machines": 200}}
    id = json.loads(await service.ask("POST", "/v1/describe", job))["id"]
    while json.loads(await service.ask("GET", f"/v1/jobs/{id}"))["state"] == "queued":
        await asyncio.sleep(0.05)
    tally, took = await load(service, explain, n, seconds)
    state = json.loads(await service.ask("GET", f"/v1/jobs/{id}"))["state"]
    name = f"explain, {n} connections, while a description runs"
    if state == "running":
        await service.ask("POST", f"/v1/jobs/{id}/cancel", {})
    else:
        name += f" (it had {state} before the end)"
    rows.append(row(name, tally, took, 1, await service.memory()))
    single = cycle(
        [
            service.request(
                "POST",
                "/v1/explain" if n % 20 == 0 else "/v1/score",
                {"model": "intents", "text": text},
            )
            for n, text in enumerate(messages)
        ]
    )
    for part in range(1, 5):
        tally, took = await load(service, single, n, 10**9, options.requests // 4)
        what = f"{part * options.requests // 4:,} requests in all, one in 20 explained, else scored"
        rows.append(row(what, tally, took, 1, await service.memory()))
    return rows


async def first_result(workspace: Path) -> float:
    """Return the seconds from the start of a service to the description of the sample."""
    began = time.perf_counter()
    service = Service(workspace)
    try:
        job = json.loads(await service.ask("POST", "/v1/describe", {"sample": True}))
        while job["state"] in ("queued", "running"):
            await asyncio.sleep(0.05)
            job = json.loads(await service.ask("GET", f"/v1/jobs/{job['id']}"))
        if job["state"] != "finished":
            raise RuntimeError(f"the description of the sample has {job['state']}")
    finally:
        service.close()
    return time.perf_counter() - began


def page(result: dict[str, Any]) -> str:
    """Return the page of a result."""
    rows = result["rows"]
    table = [f"| {' | '.join(rows[0])} |", "|" + "---|" * len(rows[0])]
    for one in rows:
        cells = (f"{v:,}" if isinstance(v, int | float) else v for v in one.values())
        table.append(f"| {' | '.join(cells)} |")
    return (
        "# The service under load\n"
        f"`{result['command']}`, newfound {result['newfound']}, {result['date']}. "
        f"{result['cores']} cores; load of the computer before: {result['load']}.\n\n"
        "One service, one worker, over loopback. The client runs on the same computer. The model "
        "is a detector of the sample's 1,500 banking requests with 15 intents; messages are the "
        "sample's 3,000, half of them novel. Each answer of explain has verdict, words, rules and "
        "counterfactual. Memory is the resident memory of the service; processor time is the "
        "service's, which depends little on what else the computer does.\n\n"
        + "\n".join(table)
        + f"\n\nThe sample was described {result['first']} s after the command that starts the "
        "service, with its defaults.\n"
    )


def main() -> None:
    """Measure and write the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--requests", type=int, default=200_000)
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args()
    load_before = round(os.getloadavg()[0], 1)
    known, novel = newfound.load_sample()
    messages = [text for pair in zip(known.texts, novel.texts, strict=True) for text in pair]
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "intents.newfound"
        first = asyncio.run(first_result(Path(folder) / "first"))
        newfound.NoveltyDetector(random_state=0).fit(known.texts, known.labels).save(model)
        service = Service(Path(folder) / "workspace", "--jobs", "1", "--model", f"intents={model}")
        try:
            rows = asyncio.run(measure(service, messages, options))
        finally:
            service.close()
    result = {
        "command": " ".join(["python", "benchmarks/serve.py", *sys.argv[1:]]),
        "newfound": version("newfound"),
        "date": datetime.now(UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "load": load_before,
        "rows": rows,
        "first": round(first, 1),
    }
    options.output.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    options.output.with_suffix(".md").write_text(page(result), "utf-8")
    print(page(result))


if __name__ == "__main__":
    main()

"""``newfound serve``: pages in a browser, and an HTTP interface for programs."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from newfound.cli.console import outcome, print_json, say
from newfound.cli.options import Jobs, Quiet

if TYPE_CHECKING:
    from newfound.serve.settings import Settings

__all__ = ["serve"]

_MB = 1 << 20


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 8765,
    *,
    workspace: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder that keeps runs, models and monitors; by default in your data folder.",
        ),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE",
            help="Model written by describe --save or detect --save, to offer under a name. Can be "
            "repeated.",
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="NEWFOUND_TOKEN",
            help="Token that requests must have, instead of a random one; safer in --token-file.",
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(dir_okay=False, help="File with the token.")
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Another value of the header Host to accept, such as news.example.org. Can be "
            "repeated.",
        ),
    ] = None,
    tls_cert: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Certificate for HTTPS, as PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(dir_okay=False, help="Private key of the certificate, as PEM.")
    ] = None,
    behind_proxy: Annotated[
        bool,
        typer.Option(
            "--behind-proxy", help="A reverse proxy with HTTPS is in front; see --allow-host."
        ),
    ] = False,
    max_upload: Annotated[
        int, typer.Option(metavar="MB", min=1, help="Largest file that can be uploaded.")
    ] = 256,
    max_queue: Annotated[int, typer.Option(min=1, help="Maximum number of jobs that wait.")] = 16,
    job_memory: Annotated[
        int, typer.Option(metavar="MB", min=0, help="Memory a job may use; 0 for no limit.")
    ] = 8192,
    job_time: Annotated[
        int, typer.Option(metavar="SECONDS", min=1, help="How long a job may run.")
    ] = 3600,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open a browser; print the address.")
    ] = False,
    jobs: Jobs = -1,
    json: Annotated[
        bool, typer.Option("--json", help="Print address, code and token as JSON on one line.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Start a local page to describe, detect and explain, and an HTTP interface for programs.

    A browser opens on the page. Programs send the token that is printed as Authorization: Bearer
    TOKEN. Only programs of this machine can reach it; any other --host needs --token or
    --token-file, and HTTPS: --tls-cert with --tls-key, or --behind-proxy. Control-C stops it.
    """
    _check(host, token, token_file, (tls_cert, tls_key), behind_proxy=behind_proxy)
    with outcome():
        for package in ("fastapi", "uvicorn"):
            if find_spec(package) is None:
                raise ImportError(f"newfound serve needs {package}: pip install 'newfound[serve]'")
        from newfound.serve.app import serve as run
        from newfound.serve.settings import ServiceLimits, Settings

        given: dict[str, Any] = {}
        if token is not None or token_file is not None:
            given["token"] = _token(token, token_file)
        settings = Settings(
            workspace=_workspace(workspace),
            host=host,
            port=port,
            hosts=tuple(allow_host or ()),
            secure=tls_cert is not None or behind_proxy,
            models=_models(model or []),
            jobs=jobs,
            limits=ServiceLimits(
                upload_bytes=max_upload * _MB,
                queue=max_queue,
                job_bytes=job_memory * _MB,
                job_seconds=float(job_time),
            ),
            **given,
        )

        def started(actual: Settings) -> None:
            _announce(actual, own_token=bool(given), json=json, quiet=quiet)

        tls = (tls_cert, tls_key) if tls_cert is not None and tls_key is not None else None
        try:
            run(settings, browser=not (no_browser or json), tls=tls, started=started)
        except KeyboardInterrupt:
            if not quiet:
                say("stopped.")


def _check(
    host: str,
    token: str | None,
    token_file: Path | None,
    tls: tuple[Path | None, Path | None],
    *,
    behind_proxy: bool,
) -> None:
    """Reject options that do not go together, or that would let strangers in."""
    from newfound.serve.settings import is_loopback

    if token is not None and token_file is not None:
        raise typer.BadParameter("--token and --token-file are two ways to give a token; use one.")
    if (tls[0] is None) != (tls[1] is None):
        raise typer.BadParameter("--tls-cert and --tls-key belong together; give both.")
    if is_loopback(host):
        return
    if token is None and token_file is None:
        raise typer.BadParameter(
            f"--host {host} lets other machines in; give --token-file FILE or --token, too."
        )
    if tls[0] is None and not behind_proxy:
        raise typer.BadParameter(
            f"--host {host} would send documents and the token in the clear; give --tls-cert and "
            "--tls-key, or --behind-proxy if a proxy with HTTPS is in front."
        )


def _token(token: str | None, file: Path | None) -> str:
    from newfound.serve.settings import check_token

    if file is not None:
        token = file.read_text(encoding="utf-8").strip()
    return check_token(token or "")


def _workspace(given: Path | None) -> Path:
    import platformdirs

    return given or Path(platformdirs.user_data_dir("newfound", appauthor=False)) / "workspace"


def _models(given: list[str]) -> dict[str, Path]:
    from newfound.serve.settings import check_name

    found: dict[str, Path] = {}
    for one in given:
        name, equals, path = one.partition("=")
        if not equals or not path:
            raise ValueError(
                f"--model {one}: expected NAME=FILE, such as intents=intents.newfound."
            )
        if check_name(name) in found:
            raise ValueError(f"--model {name} is given twice; use another name.")
        found[name] = Path(path)
    return found


def _announce(settings: Settings, *, own_token: bool, json: bool, quiet: bool) -> None:
    first = f"{settings.address}sign-in?code={settings.code}"
    if json:
        token = None if own_token else settings.token
        data = {"address": settings.address, "open": first, "token": token}
        print_json(data, indent=None)
    elif not quiet:
        say(f"open {first}")
        if not own_token:
            say(f"programs send this token: {settings.token}")
        say("Control-C stops it.")

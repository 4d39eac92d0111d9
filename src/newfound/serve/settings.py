"""Where the service listens, who may use it, and how much it accepts."""

from __future__ import annotations

import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = [
    "DEFAULT_PORT",
    "TOKEN_VARIABLE",
    "ServiceLimits",
    "Settings",
    "check_name",
    "check_token",
    "is_loopback",
]

DEFAULT_PORT = 8765
TOKEN_VARIABLE = "NEWFOUND_TOKEN"
_MIN_TOKEN = 16  # characters
_TOKEN = re.compile(r"[!-~]+")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True)
class ServiceLimits:
    """How much the service accepts.

    Attributes
    ----------
    body_bytes, upload_bytes : int
        The largest body of a request, and the largest file that can be uploaded.
    body_seconds : float
        How long a body may take to arrive, and an upload for every 10 MB.
    texts, explained : int
        The most texts of a request to score, and to explain.
    waiting : int
        The most texts that wait to be explained.
    queue : int
        The most jobs that wait.
    job_seconds : float
        How long a job may run.
    job_bytes : int
        The memory that a job may use; 0 for no limit.
    """

    body_bytes: int = 32 << 20
    upload_bytes: int = 256 << 20
    body_seconds: float = 30.0
    texts: int = 10_000
    explained: int = 100
    waiting: int = 2_000
    queue: int = 16
    job_seconds: float = 3600.0
    job_bytes: int = 8 << 30


@dataclass(frozen=True)
class Settings:
    """What a service is started with.

    Attributes
    ----------
    workspace : Path
        The folder that keeps runs, models and monitors.
    host, port : str, int
        Where it listens.
    hosts : tuple of str
        Further names by which it may be addressed, such as that of a reverse proxy.
    token : str
        What programs send as a bearer token.
    code : str
        What the first address opened in a browser contains; it is valid once.
    secure : bool
        Whether browsers reach it by HTTPS: by its own certificate or through a proxy.
    models : mapping of str to Path
        Model files to offer, by name.
    jobs : int
        The number of threads of a job; -1 uses all cores.
    limits : ServiceLimits
        How much it accepts.
    """

    workspace: Path
    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    hosts: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    code: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    secure: bool = False
    models: Mapping[str, Path] = field(default_factory=dict)
    jobs: int = -1
    limits: ServiceLimits = field(default_factory=ServiceLimits)

    @property
    def allowed_hosts(self) -> frozenset[str]:
        """The values that the header Host may have, in lower case.

        Examples
        --------
        >>> sorted(Settings(Path("."), port=80).allowed_hosts)
        ['127.0.0.1', '127.0.0.1:80', '[::1]', '[::1]:80', 'localhost', 'localhost:80']
        """
        names = ["127.0.0.1", "localhost", "[::1]"] if is_loopback(self.host) else [self.host]
        found = {f"{name}:{self.port}" for name in names}
        if self.port in (80, 443):
            found.update(names)
        return frozenset(name.lower() for name in found | set(self.hosts))

    @property
    def origins(self) -> frozenset[str]:
        """The values that the header Origin may have: pages of this service."""
        scheme = "https" if self.secure else "http"
        return frozenset(f"{scheme}://{host}" for host in self.allowed_hosts)

    @property
    def address(self) -> str:
        """The address to open in a browser, without the code.

        With HTTPS it has the first of the further names: the certificate is for that name, and a
        proxy answers for it.

        Examples
        --------
        >>> Settings(Path("."), secure=True, hosts=("news.example.org",)).address
        'https://news.example.org/'
        """
        if self.secure and self.hosts:
            return f"https://{self.hosts[0]}/"
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{name}:{self.port}/"


def is_loopback(host: str) -> bool:
    """Return whether only programs of the same machine can reach an address.

    Examples
    --------
    >>> [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def check_token(token: str) -> str:
    """Return a token that can be used; else raise a ValueError.

    Examples
    --------
    >>> check_token("short")
    Traceback (most recent call last):
    ...
    ValueError: The token has 5 characters; use at least 16, such as from openssl rand -hex 32.
    """
    if len(token) < _MIN_TOKEN:
        raise ValueError(
            f"The token has {len(token)} characters; use at least {_MIN_TOKEN}, such as from "
            "openssl rand -hex 32."
        )
    if not _TOKEN.fullmatch(token):
        raise ValueError("The token may have letters, digits and punctuation of ASCII only.")
    return token


def check_name(name: str) -> str:
    """Return the name of a model or monitor that can be part of a path; else raise a ValueError.

    Examples
    --------
    >>> check_name("intents-2024")
    'intents-2024'
    >>> check_name("../etc/passwd")
    Traceback (most recent call last):
    ...
    ValueError: The name '../etc/passwd' cannot be used; use letters, digits, dots, hyphens and \
underscores, at most 64, beginning with a letter or digit.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(
            f"The name {name[:80]!r} cannot be used; use letters, digits, dots, hyphens and "
            "underscores, at most 64, beginning with a letter or digit."
        )
    return name

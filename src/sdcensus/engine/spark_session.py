"""The Spark session that an engine works in: the caller's, or a quiet local one of our own.

A program that runs on a cluster has a session already, or was started by ``spark-submit`` with
everything that is needed to make one. Anybody else gets Spark inside this machine: no pages to
look at, nothing that listens outside it, temporary files in a folder that only their owner can
enter. Whoever made a session ends it.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import subprocess
import tempfile
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sdcensus.errors import EngineError, MissingExtra

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

#: Spark 4 runs on this Java or a later one.
OLDEST_JAVA = 17

#: Whoever sets one of these says how Spark is to be started.
_CONFIGURED_BY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS", "SPARK_REMOTE")

_HOW_TO_INSTALL = (
    f"Install Java {OLDEST_JAVA} or later (Debian and Ubuntu: apt install openjdk-17-jre-headless;"
    " Windows and macOS: the JRE 17 of adoptium.net) and, if it is not found then, let JAVA_HOME"
    " name its folder."
)

#: What must hold in the session of a request, whatever the caller's own says.
_REQUEST_SETTINGS = {
    "spark.sql.ansi.enabled": "true",  # a sum that leaves 64 bits is an error, not another number
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}

_LOG_SETTINGS = """\
rootLogger.level = off
"""


def request_session(session: SparkSession | None = None) -> SparkSession:
    """A session for requests: settings and views of its own in a running Spark.

    Args:
        session: The session to stand beside; else the active one; else a local one is started.
    """
    beside = session if session is not None else _running() or _OWN.start()
    if not hasattr(beside, "newSession") or not hasattr(beside, "_jsparkSession"):
        raise EngineError(
            "This is a session of Spark Connect, which cannot be given settings of its own. Run the"
            " program on the cluster with spark-submit."
        )
    own = beside.newSession()
    for name, value in _REQUEST_SETTINGS.items():
        own.conf.set(name, value)
    return own


def runs_here(session: SparkSession) -> bool:
    """Whether the executors are on this machine and see its files."""
    return str(session.sparkContext.master).startswith("local")


def stop_own_session() -> None:
    """End the local Spark, if one was started here. Nobody else's is touched."""
    _OWN.stop()


def _running() -> SparkSession | None:
    """The session that this program already has, whichever thread made it."""
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ModuleNotFoundError:
        raise MissingExtra("spark", needed_for="The engine spark") from None
    _load_helpers()
    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        return SparkSession(SparkContext._active_spark_context)
    return active


def _load_helpers() -> None:
    """Load a part of pyspark that looks for pandas; no pandas is used here, whichever is found."""
    with warnings.catch_warnings(action="ignore", category=FutureWarning), suppress(ImportError):
        import pyspark.testing.utils  # noqa: F401


class _OwnSpark:
    """The Spark that sdcensus started. There can be one in a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._context: SparkContext | None = None
        self._folder: Path | None = None

    def start(self) -> SparkSession:
        from pyspark.sql import SparkSession

        with self._lock:
            if self._context is None:
                _check_java()
                self._context = self._started()
                atexit.register(self.stop)
            return SparkSession(self._context)

    def _started(self) -> SparkContext:
        from pyspark import SparkConf, SparkContext

        if any(name in os.environ for name in _CONFIGURED_BY):
            return _guarded(lambda: SparkContext(conf=SparkConf().setAppName("sdcensus")))
        self._folder = Path(tempfile.mkdtemp(prefix="sdcensus-spark-"))
        conf = SparkConf(loadDefaults=False)
        for name, value in _local_settings(self._folder).items():
            conf.set(name, value)
        try:
            return _guarded(lambda: _launched(conf))
        except BaseException:
            self._remove_folder()
            raise

    def stop(self) -> None:
        """End it and remove its temporary files."""
        with self._lock:
            context, self._context = self._context, None
            if context is not None:
                atexit.unregister(self.stop)
                context.stop()
            self._remove_folder()

    def _remove_folder(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None


_OWN = _OwnSpark()


def _launched(conf: Any) -> SparkContext:
    """Start Java with a mouth that is shut: what it says may quote a path or a value."""
    from pyspark import SparkContext
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # Java runs already, from an earlier session
        return SparkContext(conf=conf)
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    gateway = launch_gateway(conf, silent)  # type: ignore[no-untyped-call]
    return SparkContext(conf=conf, gateway=gateway)


def _local_settings(folder: Path) -> dict[str, str]:
    log = folder / "log4j2.properties"
    log.write_text(_LOG_SETTINGS, encoding="utf-8", newline="\n")
    cores = max(1, min(16, os.cpu_count() or 1))
    return {
        "spark.master": f"local[{cores}]",
        "spark.app.name": "sdcensus",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log.as_uri()}",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.maxResultSize": "0",
        "spark.driver.memory": "2g",
        "spark.eventLog.enabled": "false",
        "spark.io.encryption.enabled": "true",
        "spark.local.dir": str(folder),
        "spark.sql.adaptive.enabled": "false",  # plans for clusters; here it only delays
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


def _guarded(start: Any) -> SparkContext:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        context: SparkContext = start()
    except (Py4JError, PySparkException, OSError, RuntimeError, ValueError) as error:
        raise EngineError(
            f"Spark could not be started ({type(error).__name__}). Check that Java {OLDEST_JAVA} or"
            " later runs (java -version), that the folder for temporary files has room, and the"
            " variables SPARK_HOME, JAVA_HOME and PYSPARK_SUBMIT_ARGS."
        ) from None
    return context


def _check_java() -> None:
    """Refuse to start without a Java that Spark runs on: its own words are a page long."""
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit runs Java already
        return
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"in JAVA_HOME ({home})" if home else "on this machine"
        raise EngineError(
            f"The engine spark needs Java, and there is none {where}. {_HOW_TO_INSTALL}"
        )
    try:
        said = subprocess.run(
            [java, "-version"], capture_output=True, check=True, encoding="utf-8", errors="replace"
        )
    except (OSError, subprocess.CalledProcessError):
        raise EngineError(f"Java ({java}) does not run. {_HOW_TO_INSTALL}") from None
    version = java_version(said.stderr + said.stdout)
    if version is not None and version < OLDEST_JAVA:
        raise EngineError(f"Java {version} ({java}) is too old for Spark. {_HOW_TO_INSTALL}")


def java_version(text: str) -> int | None:
    """The main version in what ``java -version`` answers; ``None`` if it names none.

    Examples:
        >>> java_version('openjdk version "17.0.15" 2025-04-15'), java_version('"1.8.0_392"')
        (17, 8)
    """
    match = re.search(r'"(\d+)(?:\.(\d+))?', text)
    if match is None:
        return None
    first, second = int(match[1]), int(match[2] or 0)
    return second if first == 1 else first

"""The built page, served as laju serves it: these headers, these types, nothing else."""

import functools
import http.server
import os
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = pathlib.Path(os.environ.get("LAJU_BINARY", ROOT / "build" / "dev" / "laju")).absolute()
BUILT = [ROOT / "web" / "dist", BINARY.parent / "web"]  # a release tarball brings its page, and CMake prefers that too

POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def page_folder():
    """Where the page was built; None where it was not."""
    return next((folder for folder in BUILT if (folder / "index.html").exists()), None)


class Handler(http.server.SimpleHTTPRequestHandler):
    extensions_map = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm"}

    def end_headers(self):
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, *_):
        pass


class PageServer:
    def __init__(self, folder):
        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.http.server_port}/"

    def __enter__(self):
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

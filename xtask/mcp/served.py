"""Callboard as a server in front of a model, and what it has kept."""

import json
import os
import subprocess
import time
import urllib.request
from contextlib import contextmanager


@contextmanager
def serving(callboard: str, store: str, upstream: str):
    """The address of a server, whose models of OpenAI and Anthropic are those at one base URL."""
    words = [callboard, "serve", "--listen", "127.0.0.1:0", "--store", f"sqlite:{store}", "--json"]
    environment = {**os.environ, "OPENAI_BASE_URL": upstream, "ANTHROPIC_BASE_URL": upstream}
    process = subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, cwd=os.path.dirname(store))
    try:
        yield json.loads(process.stdout.readline())["listening"]
    finally:
        process.kill()


def call(server: str, method: str, path: str, body=None, session: str = "talk"):
    """A call of the API on a session, or without its name on all of them."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    address = f"{server}/v1/sessions/{session}{path}".rstrip("/")
    request = urllib.request.Request(address, data, headers, method=method)
    return json.load(urllib.request.urlopen(request))


def kept(server: str, thread: str, count: int, session: str = "talk") -> None:
    """Waits until a conversation has so many messages: a client may be done before its answer ends."""
    for _ in range(1200):
        found = call(server, "GET", f"/threads/{thread}/messages", session=session)["messages"]
        if len(found) == count:
            return
        time.sleep(0.05)
    raise AssertionError(f"{thread} has {len(found)} messages, not {count}: {found}")

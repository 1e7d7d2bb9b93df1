"""The world of a newcomer: a fresh clone, an empty home, the binary, a server, and a model that says what it is told to."""

import contextlib
import http.server
import json
import os
import pathlib
import re
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

CHECKS = []

# How many seconds anything may take until a check is given up.
PATIENCE = 300


def item(text):
    """Marks a check, and says in one sentence what must hold."""

    def mark(check):
        CHECKS.append((text, check))
        return check

    return mark


class Model(http.server.ThreadingHTTPServer):
    """An endpoint with OpenAI's API. `answer` gets the request and how many came before, and returns a text or a message."""

    daemon_threads = True

    def __init__(self, answer, usage=(10, 5)):
        super().__init__(("127.0.0.1", 0), Model.Handler)
        self.answer, self.usage, self.asked = answer, usage, []
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            self.server.asked.append(request)
            said = self.server.answer(request, len(self.server.asked) - 1)
            message = {"role": "assistant", "content": said} if isinstance(said, str) else said
            read, written = self.server.usage
            usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
            answer = {"id": "1", "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            body = json.dumps({**answer, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass


class Refused(Exception):
    """A call that was refused, with its status and its problem."""

    def __init__(self, status, body):
        super().__init__(f"{status}: {body}")
        self.status, self.problem = status, body


class Done:
    """What a command printed, and how it ended."""

    def __init__(self, process):
        self.out, self.err, self.status = process.stdout, process.stderr, process.returncode

    def json(self):
        return json.loads(self.out)


class World:
    """A home of its own, in which commands run, with at most one server."""

    binary = clone = xtask = None

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.home = pathlib.Path(self.folder.name)
        self.server = self.url = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()
        self.folder.cleanup()

    def env(self, **more):
        known = {"HOME": str(self.home), "PATH": f"{self.binary.parent}:{os.environ['PATH']}", "no_proxy": "*"}
        return {**known, **{name: str(value) for name, value in more.items()}}

    def run(self, *words, stdin="", cwd="", **env):
        command = [self.binary, *map(str, words)]
        options = {"cwd": self.home / cwd, "env": self.env(**env), "text": True, "capture_output": True, "timeout": PATIENCE}
        return Done(subprocess.run(command, input=stdin, **options))

    def ok(self, *words, **more):
        done = self.run(*words, **more)
        assert done.status == 0, f"callboard {' '.join(map(str, words))}: {done.status}: {done.out}{done.err}"
        return done.out

    def serve(self, *options, **env):
        listen = [] if "--listen" in options else ["--listen", "127.0.0.1:0"]
        words = [self.binary, "serve", "--json", *listen, *options]
        self.server = subprocess.Popen(words, cwd=self.home, env=self.env(**env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        line = self.server.stdout.readline()
        self.url = json.loads(line)["listening"]
        return line

    def stop(self):
        if self.server:
            self.server.kill()
            self.server.wait()
            self.server.stdout.close()
            self.server = None

    def send(self, method, path, body=None, **headers):
        url = path if "://" in path else self.url + path
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.loads(answer.read() or "null")
        except urllib.error.HTTPError as refused:
            raise Refused(refused.code, json.loads(refused.read() or "null")) from None

    def get(self, path):
        return self.send("GET", path)

    def post(self, path, body=None):
        return self.send("POST", path, body)

    def team(self, name="s", **settings):
        """A session with three agents; its address."""
        agents = [{"name": "lead", "role": "manager"}, {"name": "writer", "role": "worker"}, {"name": "critic", "role": "worker"}]
        self.post("/v1/sessions", {"id": name, "agents": agents, **settings})
        return f"/v1/sessions/{name}"

    def say(self, session, text, thread="main", **more):
        message = {"role": "user", "content": text, **more}
        return self.post(f"{session}/threads/{thread}/messages", {"messages": [message]})["messages"][0]

    def program(self, path, *words, stdin="", timeout=PATIENCE, **env):
        """A program of the clone, as a newcomer runs it."""
        command = ["python3", self.clone / path, *words]
        options = {"cwd": self.home, "env": self.env(CALLBOARD_URL=self.url, **env), "text": True, "capture_output": True}
        done = Done(subprocess.run(command, input=stdin, timeout=timeout, **options))
        assert done.status == 0, done.err
        return done.out


# Makes a session with two agents.
NEW = ("session", "new", "--agent", "lead:manager", "--agent", "writer")


@contextlib.contextmanager
def store():
    """A world with a session `one` in its store."""
    with World() as world:
        world.ok(*NEW, "--id", "one")
        yield world


@contextlib.contextmanager
def board():
    """A world with a server that has a session with a team, and the address of that."""
    with World() as world:
        world.serve()
        yield world, world.team()


def until(what, holds):
    """Waits until something holds."""
    last = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < last, f"waited in vain for {what}"
        time.sleep(0.1)


def refused(status, call, code=None):
    """Fails unless the call is refused with this status."""
    try:
        call()
    except Refused as why:
        assert why.status == status and code in (None, why.problem["code"]), why
        return why.problem
    raise AssertionError(f"it was not refused with {status}")


def parts(page, language):
    """The blocks of code of a page in this language."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.S)

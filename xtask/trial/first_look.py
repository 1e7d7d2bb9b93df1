"""The first look: the README, the book, the examples, and context files at a server."""

import json
import subprocess

from world import Model, World, item, parts, until


def commands(block):
    """The commands of a block, with their input lines: a command goes on as long as its quotes are open."""
    found = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(line[2:])
        elif found and found[-1].count("'") % 2:
            found[-1] += "\n" + line
    return found


@item("the README is short, and works from top to bottom in one home: its loop at a server, then its commands")
def readme():
    page = (World.clone / "README.md").read_text()
    lines = len(page.splitlines())
    assert lines < 160, f"the README has {lines} lines"
    program = next(block for block in parts(page, "python") if block.startswith("# loop.py"))
    with World() as world:
        world.serve()
        (world.home / "loop.py").write_text(program.replace("http://127.0.0.1:7420", world.url))
        model = Model(lambda request, nth: f"answer {nth}")
        assert world.program(world.home / "loop.py", OPENAI_BASE_URL=model.url).count("answer") == len(model.asked) >= 2
        said = ""
        for command in (command for block in parts(page, "console") for command in commands(block)):
            done = subprocess.run(["sh", "-c", command], cwd=world.home, env=world.env(), text=True, capture_output=True)
            # What an agent may not see does not exist for it.
            assert (done.returncode == 0) != ("set show Tone --as critic" in command), f"{command}: {done.stderr}"
            said += done.stdout
        assert "Readers: sailors" in said and "hidden from lead, critic" in said, said


@item("every page of the book is in its summary")
def book():
    summary = (World.clone / "docs/SUMMARY.md").read_text()
    pages = {path.name for path in (World.clone / "docs").glob("*.md")} - {"SUMMARY.md"}
    assert len(pages) > 20 and all(f"({page})" in summary for page in pages)


@item("a follower misses nothing while the server is restarted")
def follower():
    with World() as world:
        world.serve("--store", "sqlite:team.db")
        session = world.team()
        command = ["python3", World.clone / "examples/agents/follow.py", "s", "0"]
        follow = subprocess.Popen(command, env=world.env(CALLBOARD_URL=world.url), stdout=subprocess.PIPE, text=True)
        try:
            world.say(session, "one")
            assert follow.stdout.readline().endswith("user: one\n")
            address = world.url.split("://")[1]
            world.stop()
            world.ok("say", "two", "--session", "s", "--store", "sqlite:team.db")
            world.serve("--store", "sqlite:team.db", "--listen", address)
            world.say(session, "three")
            assert [follow.stdout.readline().split(": ")[1] for _ in range(2)] == ["two\n", "three\n"]
        finally:
            follow.kill()
            follow.wait()
            follow.stdout.close()


@item("a conversation goes on past the window, and what was said at its beginning is still found")
def long_history():
    with World() as world:
        world.serve("--store", "sqlite:team.db")
        model = Model(lambda request, nth: f"I see, number {nth}.")
        talk = [f"Day {nth}: at the pier the water stood {nth * 13 % 90} centimetres over the forecast, and the wind came from the west." for nth in range(80)]
        lines = ["My sister Ana moved to Lisbon in May.", *talk, "Where did Ana move?"]
        said = world.program("examples/agents/chat.py", "talk", stdin="\n".join(lines), OPENAI_BASE_URL=model.url, WINDOW=2000)
        sizes = [int(line.split()[0][1:]) for line in said.splitlines()]
        assert len(sizes) == len(lines) and max(sizes) <= 1750, max(sizes)
        assert "Lisbon" in json.dumps(model.asked[-1]["messages"])
        kept = world.get("/v1/sessions/talk/threads/main/messages")["messages"]
        assert len(kept) == 2 * len(lines), "nothing is deleted"
        kinds = {entry["type"] for entry in world.get("/v1/sessions/talk/journal")["entries"]}
        assert "conversation.compressed" in kinds


@item("context files at a server: the coder searches and reads what the task manager wrote")
def files():
    with World() as world:
        world.serve("--project", ".")
        agents = [{"name": "manager", "role": "manager"}, {"name": "planner", "role": "worker"}, {"name": "coder", "role": "worker"}]
        world.post("/v1/sessions", {"id": "auth", "agents": agents, "grant": ["files"]})
        new = {"category": "tasks", "name": "user-auth", "for": "planner", "keywords": ["user-auth"], "request": "1. The form."}
        world.post("/v1/sessions/auth/files?as=planner", new)
        search = "/v1/sessions/auth/files/search?keywords=user-auth&as=coder"
        # The journal notes what is in the folder.
        until("the file", lambda: len(world.get(search)["files"]) == 1)
        read = world.get("/v1/sessions/auth/files/tasks/user-auth-tasks.md?as=coder")
        assert "1. The form." in str(read)
        names = {tool["function"]["name"] for tool in world.get("/v1/sessions/auth/tools?agent=coder&format=openai")["tools"]}
        assert {"find_files", "read_file", "add_file"} <= names, names


@item("`files sessions` lists the folders with their last activity")
def file_sessions():
    with World() as world:
        made = json.loads(world.ok("files", "new", "--json"))["session_id"]
        assert made in world.ok("files", "sessions")


@item("`messages --after 1000` takes milliseconds")
def milliseconds():
    with World() as world:
        world.ok("session", "new", "--id", "one", "--agent", "writer")
        world.ok("say", "Hello.")
        assert "Hello." in world.ok("messages", "--after", "1000")


@item("a team can begin with the context sets of another one")
def sets_from():
    with World() as world:
        world.ok("session", "new", "--id", "one", "--agent", "writer")
        world.ok("set", "put", "Brief", "One page.", "--session", "one")
        world.ok("session", "new", "--id", "two", "--agent", "writer", "--sets-from", "one")
        assert "One page." in world.ok("set", "show", "Brief", "--session", "two")


@item("a page maps the names of the documents to ours, and the README speaks of directives, Process Steps, forms and the fallback")
def names():
    page = (World.clone / "docs/names.md").read_text()
    for name in ("contextSetUpdate", "SESSION_TTL_SECONDS", "context_index", "getMessages", "update_plan"):
        assert name in page, name
    readme = (World.clone / "README.md").read_text()
    for word in ("directive", "Process Steps", "form", "fallback"):
        assert word in readme, word


@item("the examples are short enough to read in a minute, and the demo's team keeps a fact from one agent")
def examples():
    for path in (World.clone / "examples/agents").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 60, path
    team = (World.clone / "examples/party/TEAM.toml").read_text()
    assert 'visible_to = ["planner", "writer"]' in team and team.count("boathouse") == 1
    with World() as world:
        world.ok("session", "new", World.clone / "examples/party/TEAM.toml", "--id", "party")
        hidden = world.run("set", "show", "Surprise", "--as", "ada")
        assert hidden.status == 1 and "there is no context set" in hidden.err, hidden.err

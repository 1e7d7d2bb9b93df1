"""Context files on the command line, as coding agents use them."""

import json

from world import World, item


def new(world):
    return json.loads(world.ok("files", "new", "--json"))["session_id"]


@item("context files are found from any folder of the project, and `--root` names another one")
def upwards():
    with World() as world:
        session = new(world)
        (world.home / "src/deep").mkdir(parents=True)
        options = ("--name", "auth", "--for", "@coder", "--request", "Build the form.")
        added = world.ok("files", "add", "-s", session, *options, cwd="src/deep")
        assert not (world.home / "src/deep/.tmp").exists() and not (world.home / "src/.tmp").exists(), added
        assert "auth" in world.ok("files", "list", "--session", session) and "auth" in world.ok("files", "list", "-s", session, cwd="src")
        (world.home / "other").mkdir()
        elsewhere = world.run("files", "--root", "other", "list", "--session", session)
        assert elsewhere.status == 1 and "other/.tmp/sessions" in elsewhere.err, elsewhere.err
        assert "--root" in world.ok("files", "--help") and "--root" in (World.clone / "docs/files.md").read_text()


@item("a file for @coder is for the agent coder, and CALLBOARD_SESSION counts for files, too")
def for_whom():
    with World() as world:
        session = new(world)
        world.ok("files", "add", "--name", "auth", "--for", "@coder", "--request", "Build the form.", CALLBOARD_SESSION=session)
        for name in ("coder", "@coder"):
            assert "auth" in world.ok("files", "search", "--for", name, CALLBOARD_SESSION=session), name
        world.ok("files", "check", CALLBOARD_SESSION=session)
        world.serve("--project", ".")
        agents = [{"name": "lead", "role": "manager"}, {"name": "coder", "role": "worker"}]
        world.post("/v1/sessions", {"id": session, "agents": agents})
        world.say(f"/v1/sessions/{session}", "Go on.")
        text = world.post(f"/v1/sessions/{session}/prompt", {"agent": "coder", "tools": ["callboard:read"]})["text"]
        assert "auth" in text and "read_file" in text, text


@item("`files end` of a session that is not there fails, and a search that finds nothing ends with 1 and says so")
def nothing():
    with World() as world:
        session = new(world)
        ended = world.run("files", "end", "--session", "typo")
        assert ended.status == 1 and "typo" in ended.err, ended.err
        found = world.run("files", "search", "--session", session, "--keywords", "bergamot")
        assert found.status == 1 and not found.out.strip() and found.err.strip(), (found.out, found.err)
        assert ".gitignore" in (World.clone / "docs/files.md").read_text()

"""What the command line tells: settings, the journal, forms, and what went wrong."""

import json
import re

from world import NEW, Model, World, item, refused, store


@item("`session show` shows all settings that were changed, and `session journal` a sentence for each entry")
def session_told():
    with store() as world:
        world.ok("session", "update", "--layout", "plain", "--budget", "5000")
        world.ok("say", "Hello.")
        shown = world.ok("session", "show")
        for setting in ("plain", "5000"):
            assert setting in shown, (setting, shown)
        lines = world.ok("session", "journal").splitlines()
        assert len(lines) == len(json.loads(world.ok("session", "journal", "--json"))["entries"]), lines
        assert not re.search(r'[{}]|salt|"sha256"', "".join(lines)) and max(map(len, lines)) < 200, lines
        changed = world.run("session", "update")
        assert changed.status == 2 and changed.err.strip(), changed.err


@item("`form answer` speaks of forms, a directive that is refused in part ends with 1, and an error is printed once with --json")
def forms_told():
    with store() as world:
        missing = world.run("form", "answer", "Reader", "who=sailors")
        assert missing.status == 1 and "there is no form" in missing.err and "context set" not in missing.err, missing.err
        assert "form list" in missing.err, missing.err
        once = world.run("form", "answer", "Reader", "who=sailors", "--json")
        assert once.json()["error"] and not once.err.strip(), once.err
        sets = {"contextSets": [{"name": "A", "context": "x", "visibleToAgents": ["ghost"]}]}
        (world.home / "directive.json").write_text(json.dumps({"contextSetUpdate": sets}))
        assert world.run("directive", "directive.json").status == 1
        assert "no forms" in world.run("forms").err and not world.run("forms").out.strip()


@item("`import` of a missing file makes no store, and `secrets rotate` says that there is no key to rotate")
def nothing_made():
    with World() as world:
        assert world.run("import", "nope.jsonl").status == 1
        assert not [path for path in world.home.rglob("*.db")], list(world.home.rglob("*"))
        world.ok(*NEW, "--id", "one")
        rotated = world.run("secrets", "rotate")
        assert "put it back" not in rotated.err + rotated.out and "no key" in rotated.err + rotated.out, rotated.err + rotated.out


@item("suggestions fit or are silent, and a name of an agent or a thread that is nearly right is named")
def suggested():
    with store() as world:
        world.ok("say", "Hello.", "--thread", "review")
        for typed in ("version", "contextset", "log"):
            wrong = world.run(typed)
            assert wrong.status == 2 and "similar" not in wrong.err, wrong.err
        assert "writer" in world.run("prompt", "wirter").err
        assert "review" in world.run("messages", "--thread", "reveiw").err
        worker = world.run("say", "Hello.", "--thread", "new", "--as", "writer")
        assert worker.status == 1 and "a first message makes" not in worker.err, worker.err


@item("sentences, not words of Rust or its libraries, say what is wrong: in arguments of commands, team files and bodies of calls")
def no_rust():
    words = r"|EOF while|recursion limit|hex escape|Additional properties|os error"
    rust = re.compile(r"sequence|expected (a )?map|struct |variant|serde|panicked|unwrap|NaiveDate|Option<" + words)
    with store() as world:
        (world.home / "team.toml").write_text('[[agent]]\nname = "a"\nrole = "boss"\ntools = 7\n')
        told = [world.run("session", "new", "team.toml").err, world.run("workflow", "add", "table", "--config", "[1]").err]
        told += [world.run("tools", "call", "read_messages", '{"limit": []}').err, world.run("plan", "set", "team.toml").err]
        (world.home / "directive.json").write_text('{"contextSetUpdate": {"contextSets": ["A"]}}')
        told.append(world.run("directive", "directive.json").out)
        for wrong in ('{"messageTo": ', '{"message": "\\ud800"}', '{"form":' * 200 + "1" + "}" * 200, '{"colour": 1}'):
            (world.home / "wrong.json").write_text(wrong)
            told.append(world.run("directive", "wrong.json").err)
        told.append(world.run("directive", "nowhere.json").err)
        assert all(told) and not rust.search(" ".join(told)), told
        world.serve()
        session = world.team()
        for path, body in (("threads/main/messages", {"messages": {}}), ("prompt", []), ("runs", {"kind": "solo"})):
            try:
                world.post(f"{session}/{path}", body)
                raise AssertionError(path)
            except Exception as why:
                assert not rust.search(str(getattr(why, "problem", rust.pattern))), why
        problem = refused(422, lambda: world.send("PATCH", session, {"prompt": {"layout_parts": ["tsk"]}}), "invalid")
        assert "`tsk` is not known here: use `instructions`" in problem["detail"], problem


@item("`callboard help` and the page name all variables, and `doctor` is short where no model answers")
def help_told():
    model = Model(lambda request, nth: "x")
    with World() as world:
        help_text, page = world.ok("help"), (World.clone / "docs/command-line.md").read_text()
        for name in ("CALLBOARD_MODEL", "OPENAI_BASE_URL", "CALLBOARD_MASTER_KEY", "CALLBOARD_USER_TOKENS", "SESSION_TTL_SECONDS", "ANTHROPIC_API_KEY"):
            assert name in help_text and name in page, name
        assert world.ok("help", "--help")
        world.ok(*NEW, "--id", "one")
        checked = world.run("doctor", CALLBOARD_MODEL="openai:x", OPENAI_BASE_URL=model.url.replace("/v1", "/none"))
        assert max(map(len, (checked.out + checked.err).splitlines())) < 300, checked.out + checked.err


@item("the pages say how to start a loop, how to ask Anthropic, what to do when something fails, and how a manager's own loop goes")
def pages():
    docs = {path.name: path.read_text() for path in (World.clone / "docs").glob("*.md")}
    own = docs["own-loop.md"]
    for heading in ("## With Anthropic", "## A manager's own loop", "## When something fails", "## Who writes summaries"):
        assert heading in own, heading
    assert "python3 own_loop.py" in own and "GET …/forms" in docs["names.md"] + docs["teams.md"] + docs["http.md"]
    assert "cargo init" in docs["rust.md"] and "tokio" in docs["rust.md"]
    assert "7396" in docs["sessions.md"] + docs["http.md"] and "order=id" in docs["sessions.md"] + docs["http.md"]
    readme = (World.clone / "README.md").read_text()
    assert "python3 loop.py" in readme
    for line in readme.split("## More\n")[1].splitlines():
        assert not line.startswith("- [") or re.search(r"\)\S* [a-z]+", line), f"it does not say what one does with it: {line}"
    for page in ("plan", "workflow", "variables", "secrets", "erasing", "recall", "documents", "compression"):
        assert f"{page}.md" in readme or f"[{page}](docs/" in readme, page

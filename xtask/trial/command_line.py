"""The command line: which session, expiry, and its grammar."""

import json
import os
import pty
import re
import subprocess

from world import NEW, PATIENCE, Model, World, board, item, refused, store, until


@item("which session: the one named, then CALLBOARD_SESSION, then the one chosen, then the only one, else an error")
def which():
    with World() as world:
        world.ok(*NEW, "--id", "one", "--title", "First")
        world.ok("say", "Hello.")
        world.ok(*NEW, "--id", "two")
        unsure = world.run("messages")
        assert unsure.status != 0 and "one" in unsure.err and "two" in unsure.err and "First" in unsure.err, unsure.err
        assert "Hello." in world.ok("messages", "--session", "one") and "Hello." in world.ok("messages", CALLBOARD_SESSION="one")
        world.ok("use", "one")
        assert "Hello." in world.ok("messages") and "one" in world.ok("use")
        assert "Hello." not in world.ok("messages", CALLBOARD_SESSION="two")
        world.ok("use", "--clear")
        assert world.run("messages").status != 0
        assert "First" in world.ok("session", "show", "one")
        world.ok("session", "delete", "two")
        assert "Hello." in world.ok("messages")


@item("`prompt --agent writer` takes the thread in which the writer was addressed last, and says so")
def addressed():
    with store() as world:
        world.ok("say", "Write.", "--thread", "agent:writer")
        done = world.run("prompt", "--agent", "writer")
        assert "Write." in done.out and "agent:writer" in done.err, done.err


@item("sessions made straight on a store never expire; at a server they live 24 hours, or as long as `--ttl` says")
def expiry():
    with World() as world:
        assert '"never"' in world.ok(*NEW, "--json")
        assert "24" in world.run("serve", "--help").out and "SESSION_TTL_SECONDS" in world.run("serve", "--help").out
        world.serve()
        assert world.post("/v1/sessions", {})["ttl_seconds"] == 86400
        world.stop()
        world.serve("--ttl", "90d")
        assert world.post("/v1/sessions", {})["ttl_seconds"] == 90 * 86400
        world.stop()
        world.serve(SESSION_TTL_SECONDS=60)
        assert world.post("/v1/sessions", {})["ttl_seconds"] == 60
        for wrong in ("0", "-1", "soon"):
            assert world.run("session", "new", "--ttl", wrong).status != 0, wrong


@item("an expired id answers the user `expired`; its lines are in the archive")
def expired():
    with World() as world:
        world.serve("--sweep-seconds", "1", "--archive", "archive")
        world.post("/v1/sessions", {"id": "brief", "ttl_seconds": 1})
        archive = world.home / "archive"
        until("the archive", lambda: any("brief" in path.name for path in archive.glob("*")))
        refused(410, lambda: world.get("/v1/sessions/brief"), "expired")
        refused(404, lambda: world.get("/v1/sessions/never-was"))


@item("short flags, `--as` everywhere, and global options explained once")
def grammar():
    with store() as world:
        world.ok("say", "-s", "one", "Hello.")
        assert "Hello." in world.ok("messages", "-s", "one")
        for command in ("messages", "recall Hello", "search Hello", "session journal", "turns", "plan history", "sessions"):
            short, long = (world.run(*command.split(), option, "1") for option in ("-n", "--limit"))
            assert short.status != 2 and (short.status, short.out) == (long.status, long.out), (command, short.err)
        assert "--durability" in world.ok("help") and "--durability" not in world.ok("messages", "--help")
        for command in ("run", "messages", "say", "set list", "form list", "prompt", "recall", "search", "why", "plan", "documents list"):
            assert "--as" in world.ok(*command.split(), "--help"), command
        assert "--port" in world.ok("serve", "--help")


@item("`why`, `search` and `recall` that find nothing end with 1, with an empty list for programs")
def nothing_found():
    with store() as world:
        for command in (("why", "bergamot"), ("search", "bergamot"), ("recall", "bergamot")):
            done = world.run(*command)
            assert done.status == 1, (command, done.status)
            listed = world.run(*command, "--json")
            assert listed.status == 1 and "error" not in listed.json() and [] in listed.json().values(), listed.out


@item("commands that only read make no store and no folder; unknown threads and texts that are missing are refused")
def reading():
    with World() as world:
        for command in (("session", "list"), ("messages",), ("recall", "tides"), ("search", "tides"), ("why", "tides")):
            world.run(*command)
            assert not [path for path in world.home.rglob("*") if path.is_file()], (command, list(world.home.rglob("*")))
        world.ok(*NEW, "--id", "one")
        missing = world.run("messages", "--thread", "mian")
        assert missing.status != 0 and "mian" in missing.err
        assert world.run("say").status != 0


@item("what is wrong is told in the words of people: fields instead of pointers, suggestions that fit, plurals, no log lines")
def words():
    with store() as world:
        world.ok("say", "Hello.", "--id", "x")
        taken = world.run("say", "Other.", "--id", "x")
        assert taken.status == 1 and "messages[0].message_id" in taken.err and "/messages" not in taken.err, taken.err
        unknown = world.run("set", "put", "Brief", "x", "--visible-to", "poet")
        assert unknown.err.startswith("error: visible_to: there is no agent poet"), unknown.err
        for typed, meant in ((("sesion",), "'session'"), (("fork",), "'session fork'"), (("session", "shwo"), "'show'")):
            wrong = world.run(*typed)
            assert wrong.status == 2 and meant in wrong.err and "'steps'" not in wrong.err, wrong.err
        broken = world.home / "broken.toml"
        broken.write_text('input = "x"\n[[agent]]\nname = "a"\nrole = "manager"\n[[agent]]\nname = "a"\nrole = "worker"\n')
        assert "broken.toml, line 6" in world.run("session", "new", "broken.toml").err
        said = [world.ok("session", "show"), world.ok("set", "put", "A", "x"), world.ok("documents", "list"), world.run("doctor").out]
        assert not re.search(r"\b1 (entries|tokens|messages|sessions)\b|WARN|ERROR", " ".join(said)), said


@item("`team draft` has a model write a team file, which is checked, and never replaces a file unasked")
def draft():
    good = '[[agent]]\nname = "lead"\nrole = "manager"\n[[agent]]\nname = "writer"\nrole = "worker"\n'
    answers = ["no team at all", f'```toml\ninput = "Write."\n{good}```']
    with World() as world:
        model = Model(lambda request, nth: answers[min(nth, 1)])
        words = ("team", "draft", "Write on tides.", "--model", "openai:any")
        drafted = world.ok(*words, OPENAI_BASE_URL=model.url)
        assert drafted == f'input = "Write."\n{good}' and len(model.asked) == 2, drafted
        assert "not a team file" in str(model.asked[1]["messages"][-1])
        world.ok(*words, "--output", "TEAM.toml", OPENAI_BASE_URL=model.url)
        world.ok("session", "new", "TEAM.toml", "--id", "tides")
        again = world.run(*words, "--output", "TEAM.toml", OPENAI_BASE_URL=model.url)
        assert again.status == 1 and "--force" in again.err and len(model.asked) == 3, again.err


@item("in a terminal whose input has ended, a run that asks nothing leaves that end to the next one, which then ends at its form")
def terminal():
    field = {"key": "good", "valueType": "BOOLEAN", "label": "Good", "required": True}
    asks = {"messageTo": "user", "message": "Good?", "isInfoRequest": True, "form": {"name": "Approval", "fields": [field]}}
    answers = [{"messageTo": "user", "message": "Done.", "workflowComplete": True}, asks]
    model = Model(lambda request, nth: json.dumps(answers[min(nth, 1)]))
    with World() as world:
        (world.home / "team.toml").write_text('[[agent]]\nname = "lead"\nrole = "manager"\n')
        env = world.env(OPENAI_BASE_URL=model.url, CALLBOARD_MODEL="openai:gpt-4o", OPENAI_API_KEY="none")
        typed, terminal = pty.openpty()
        os.write(typed, b"\x04")
        runs = "callboard run team.toml Write. && ! callboard run team.toml Ask. --id two"
        done = subprocess.run(["sh", "-c", runs], cwd=world.home, env=env, stdin=terminal, stdout=subprocess.DEVNULL, stderr=terminal, timeout=PATIENCE)
        os.close(typed)
        os.close(terminal)
        assert done.returncode == 0, done
        assert json.loads(world.ok("runs", "show", "--session", "two", "--json"))["status"] == "awaiting_user"


@item("a noun alone lists or shows, with options too; a store that is named has to be there; `--url` needs no scheme; `--use` chooses")
def nouns():
    with store() as world:
        world.ok(*NEW, "--id", "two", "--use")
        assert "two" in world.ok("use") and "others" in world.run(*NEW, "--id", "three").err
        assert world.ok("sessions") == world.ok("session", "list") and "one" in world.ok("sessions", "--session", "one")
        assert world.ok("threads", "-s", "one") == world.ok("thread", "list", "-s", "one")
        missing = world.run("sessions", "--store", "sqlite:none.db")
        assert missing.status == 1 and "there is no store" in missing.err and not (world.home / "none.db").exists(), missing.err
        world.serve()
        assert "one" in world.ok("sessions", "--url", world.url.split("://")[1])


@item("help has commands in groups, and `-h` is shorter than `--help`")
def groups():
    with World() as world:
        whole, short = world.ok("--help"), world.ok("-h")
        for group in ("Teams at work:", "Sessions:", "What agents are shown:", "Running Callboard:"):
            assert f"\n{group}\n" in whole and f"\n{group}\n" in short, group
        assert "Environment:" in whole and "Environment:" not in short and len(world.ok("run", "-h")) < len(world.ok("run", "--help"))


@item("at a terminal, times are told from now, exact ones with `--utc`, and `session delete` asks")
def at_terminal():
    with store() as world:
        typed, terminal = pty.openpty()
        os.write(typed, b"no\n")
        options = {"cwd": world.home, "env": world.env(), "stdin": terminal, "stdout": terminal, "stderr": terminal, "timeout": PATIENCE}
        shown = []
        for words in (("sessions",), ("sessions", "--utc"), ("session", "show", "one")):
            subprocess.run([world.binary, *words], **options)
            shown.append(os.read(typed, 4096).decode())
        assert "just now" in shown[0] and "just now" not in shown[1] and "just now" in shown[2], shown
        assert subprocess.run([world.binary, "session", "delete", "one"], **options).returncode == 1
        os.close(typed)
        os.close(terminal)
        assert "one" in world.ok("sessions")
        world.ok("session", "delete", "one")


@item("without a terminal, a run ends at its form and says how to answer; `--yes` answers")
def unattended():
    field = {"key": "good", "valueType": "BOOLEAN", "label": "Good", "required": True}
    asks = {"messageTo": "user", "message": "Good?", "isInfoRequest": True, "form": {"name": "Approval", "fields": [field]}}
    answers = [asks, {"messageTo": "user", "message": "Done.", "workflowComplete": True}]
    model = Model(lambda request, nth: json.dumps(answers[nth % 2]))
    with World() as world:
        (world.home / "team.toml").write_text('[[agent]]\nname = "lead"\nrole = "manager"\n')
        env = {"OPENAI_BASE_URL": model.url, "CALLBOARD_MODEL": "openai:gpt-4o", "OPENAI_API_KEY": "none"}
        done = world.run("run", "team.toml", "Ask.", "--id", "one", **env)
        assert done.status == 1 and "form answer Approval" in done.out + done.err, done.out + done.err
        world.ok("run", "--session", "one", "--yes", **env)


@item("`doctor` does not call a missing model wrong")
def doctor():
    with store() as world:
        assert world.run("doctor").status == 0, world.run("doctor").out


@item("with a token that names a session, commands need no other name for it")
def token():
    with board() as (world, session):
        world.team("other")
        world.say(session, "Hello.")
        made = world.post(f"{session}/tokens", {"agent": "writer"})["token"]
        assert "Hello." in world.ok("messages", CALLBOARD_URL=world.url, CALLBOARD_TOKEN=made)


@item("plain English: what needed a second reading is gone")
def english():
    odd = re.compile("means nothing|contradicts what is there|nobody is let in|answered by itself|is none of", re.I)
    with World() as world:
        world.serve()
        texts = [world.ok("help"), str(world.send("GET", "/openapi.json"))]
        commands = re.findall(r"^  ([a-z-]+)  ", texts[0], re.M)
        texts += [world.run(command, "--help").out for command in commands]
        texts += [path.read_text() for path in [*World.clone.glob("*.md"), *World.clone.glob("docs/*.md")]]
        found = [match.group() for text in texts for match in odd.finditer(text)]
        assert len(commands) > 20 and not found, found

"""The command line: its grammar, its words, and terminals."""

import json
import os
import pty
import re
import subprocess

from world import NEW, PATIENCE, Model, World, item, store


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

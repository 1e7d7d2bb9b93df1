"""A team with a manager: its own loop, its rights, and how a run is told."""

import json
import re

from world import Model, World, board, item, refused

FIELD = {"key": "who", "valueType": "STRING", "label": "Readers", "required": True}
FORM = {"messageTo": "user", "message": "For whom?", "isInfoRequest": True, "form": {"name": "Readers", "fields": [FIELD]}}


def direct(world, session, directive):
    """A turn of the manager that is answered with a directive; what was shown before it."""
    prompt = world.post(f"{session}/prompt", {"agent": "lead", "thread": "main", "record": True})
    return prompt["text"], world.post(f"{session}/turns/{prompt['turn']}", {"directive": directive})


def shown(world, session, agent="lead", thread="main"):
    return world.post(f"{session}/prompt", {"agent": agent, "thread": thread})["text"]


@item("in a manager's own loop its message stands once with the outcomes behind it, and an answered form is told")
def own_loop():
    sets = {"contextSets": [{"name": "Brief", "context": "For sailors.", "visibleToAgents": ["writer"]}]}
    with board() as (world, session):
        world.say(session, "Write on tides.")
        refused(409, lambda: open_directive(world, session), "turn_open")
        direct(world, session, FORM)
        assert [it["name"] for it in world.get(f"{session}/forms")["forms"]] == ["Readers"]
        world.post(f"{session}/forms/Readers", {"answers": {"who": "sailors"}})
        text, done = direct(world, session, {"messageTo": "writer", "message": "Write it well.", "contextSetUpdate": sets})
        assert "the user has answered it" in text and "sailors" in text, text
        assert done["directed"]["outcomes"][0]["outcome"] == "created", done
        text = shown(world, session)
        assert text.count("Write it well.") == 1 and text.index("Write it well.") < text.index("Brief: created"), text
        assert "Write it well." in shown(world, session, "writer", "agent:writer")
        assert "Write it well." not in shown(world, session, "critic", "agent:critic")


def open_directive(world, session):
    turn = world.post(f"{session}/prompt", {"agent": "lead", "thread": "main", "record": True})["turn"]
    try:
        world.post(f"{session}/directives", {"messageTo": "user", "message": "Early."})
    finally:
        world.post(f"{session}/turns/{turn}", {"error": "it was not asked"})


@item("what the user says to a worker is marked as said to it, and is not the manager's task")
def to_worker():
    with board() as (world, session):
        world.say(session, "Write on tides.")
        world.say(session, "Please begin.", "agent:writer")
        text = shown(world, session)
        task = text.split("<CURRENT_TASK>")[-1]
        assert task.index("Write on tides.") < task.index('<CHAT_MESSAGE from="user" to="writer">') < task.index("Please begin."), task
        messages = world.post(f"{session}/prompt", {"agent": "lead", "thread": "main", "format": "openai"})["messages"]
        assert "to writer] Please begin." in str(messages[-1]), messages


@item("a manager forks with the grant alone, and chooses no id")
def forks():
    with board() as (world, session):
        granted = world.team("granted", grant=["fork"])
        refused(403, lambda: world.post(f"{session}/fork?as=lead", {}))
        world.post(f"{granted}/fork?as=lead", {})
        refused(422, lambda: world.post(f"{granted}/fork?as=lead", {"id": "any-id"}))
        refused(403, lambda: world.post(f"{granted}/fork?as=writer", {}))


@item("names of a team are not mistaken for each other, and Process Steps is the manager's under any spelling")
def spelled():
    with World() as world:
        world.serve()
        alike = [{"name": "writer", "role": "worker"}, {"name": "wr\u0456ter", "role": "worker"}]
        refused(409, lambda: world.post("/v1/sessions", {"agents": alike}))
        session = world.team()
        world.send("PUT", f"{session}/context-sets/process_steps", {"content": "1. Write [Pending]"})
        refused(404, lambda: world.get(f"{session}/context-sets/Process%20Steps?as=writer"))
        assert "1. Write" in shown(world, session) and "1. Write" not in shown(world, session, "writer")


@item("a secret is found out letter by letter by nobody, and names such as pwd and cookie make one")
def oracle():
    with board() as (world, session):
        world.say(session, "the key is Tr0ub4dor&3x.")
        world.send("PUT", f"{session}/variables/api_key", {"value": "Tr0ub4dor&3x", "reason": "r"})
        for path in ("why?text=key%20is%20T&", "why?text=key%20is%20U&", "search?q=Tr0ub4dor&"):
            found = world.get(f"{session}/{path}as=writer")
            assert not found.get("findings") and not found.get("hits"), (path, found)
        value = {"Authorization": "Bearer xyz123456", "pwd": "hunter2222", "cookie": "a=b; c=d", "next_page_token": "page-17"}
        world.send("PUT", f"{session}/variables/headers", {"value": value, "reason": "r"})
        text = json.dumps(world.get(f"{session}/variables/headers")["value"])
        assert "xyz123456" not in text and "hunter2222" not in text and "a=b" not in text and "page-17" in text, text


@item("a run shows no lines of a log and no raw JSON, says why a model is away, and names commands that can be pasted")
def told():
    answers = [{"messageTo": "writer", "message": "Write it."}, "Salt water rises.", {"messageTo": "user", "message": "Done.", "workflowComplete": True}]
    say = lambda request, nth: answers[nth] if isinstance(answers[nth], str) else json.dumps(answers[nth])
    team = '[[agent]]\nname = "lead"\nrole = "manager"\n[[agent]]\nname = "writer"\nrole = "worker"\n'
    with World() as world:
        (world.home / "team.toml").write_text(team)
        env = {"CALLBOARD_MODEL": "openai:gpt-4o", "OPENAI_API_KEY": "none"}
        done = world.run("run", "team.toml", "Write.", "--id", "one", OPENAI_BASE_URL=Model(say).url, **env)
        whole = done.out + done.err
        assert done.status == 0 and "Salt water rises." in whole and "workflowComplete" not in whole and "{" not in whole, whole
        commands = re.findall(r"callboard (turns show (r\d+)/\d+ --prompt .*)", whole)
        assert len(commands) == 2 and "Salt water rises." in world.ok(*commands[0][0].split()), whole
        assert "Write." in world.ok("turns", "show", f"{commands[0][1]}/1", "--prompt", "--session", "one")
        away = world.run("run", "team.toml", "Write.", "--id", "two", OPENAI_BASE_URL="http://127.0.0.1:9/v1", **env)
        whole = away.out + away.err
        assert away.status == 1 and "127.0.0.1:9" in whole and not re.search(r"\bWARN\b|wait_ms|tried:|code:", whole), whole
        assert world.run("run", "team.toml", "Write.", "--limit-turns", "0").status == 2
